import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "bun:test";
import { JsonLogger } from "../../base/log.ts";
import * as pem from "../../kube/access/certificates.fixture.ts";
import { ManualClock } from "../../kube/manual-clock.fixture.ts";
import { answer, ScriptedServer, type Script } from "../../kube/client/scripted-server.fixture.ts";
import type { Alertmanager } from "./ask-alertmanager.ts";
import { AlertSource } from "./alert-source.ts";
import { until } from "../../base/until.fixture.ts";

/** The start of a cluster's token. */
const token = "eyJhbGciOiJSUzI1NiIsImtpZCI6IngifQ.eyJzdWIiOiJndWFyZCJ9.c2lnbmF0dXJl";
const rotated = "eyJhbGciOiJSUzI1NiIsImtpZCI6InkifQ.eyJzdWIiOiJndWFyZCJ9.b3RoZXIgb25l";
const alerts = [{ labels: { alertname: "TargetDown", namespace: "shop" }, startsAt: "2026-05-10T18:00:00Z" }];

let folder: string;
let clock: ManualClock;
let server: ScriptedServer;
let source: AlertSource | undefined;
/** All texts that the source wrote. */
let said: string[];

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), "levee-alertmanager-"));
  clock = new ManualClock();
  said = [];
  const tls = { key: pem.serverKey, cert: pem.serverCertificate };
  server = await ScriptedServer.listen((_request, response) => answer(response, alerts), { tls });
  put("token", `${token}\n`);
  put("ca.crt", pem.authority);
});

afterEach(async () => {
  await source?.close();
  source = undefined;
  await server.close();
  rmSync(folder, { recursive: true });
});

function put(name: string, text: string): void {
  writeFileSync(join(folder, name), text);
}

function pathOf(name: string): string {
  return join(folder, name);
}

/** With token and certificate authority. */
function known(): Omit<Alertmanager, "url"> {
  return { token: pathOf("token"), ca: pathOf("ca.crt") };
}

function open(how: Omit<Alertmanager, "url"> = known()): AlertSource {
  const logger = new JsonLogger({ clock, level: "debug", write: (line) => said.push(line) });
  source = new AlertSource({ clock, logger, alertmanagers: [{ url: server.url, ...how }], cluster: "" });
  source.start();
  return source;
}

async function noteOf(subject: AlertSource): Promise<string> {
  await until("a note", () => subject.notes().length === 1);
  const [note = ""] = subject.notes();
  said.push(note);
  expect(note).toContain(`s ago: ${server.url}: `);
  return note;
}

/** Half a minute later. The source has finished one look when it waits for the next. */
async function nextLook(): Promise<void> {
  await until("the look before is over", () => clock.timers === 1);
  await clock.advance(30_000);
}

function tokens(): readonly (string | undefined)[] {
  return server.requests.map(({ headers }) => headers.authorization);
}

function expectNoToken(): void {
  const all = said.join("\n");
  expect(said.length).toBeGreaterThan(0);
  for (const piece of [...token.split("."), ...rotated.split(".")]) expect(all).not.toContain(piece);
}

test("AlertSource reads the token file before every request", async () => {
  const subject = open();
  await until("an alert is heard", () => subject.alerts().length === 1);
  expect(subject.notes()).toEqual([]);
  put("token", rotated);
  await nextLook();
  await until("it is asked again", () => server.requests.length === 2);
  expect(tokens()).toEqual([`Bearer ${token}`, `Bearer ${rotated}`]);
});

test("AlertSource reads the authority file before every request", async () => {
  put("ca.crt", pem.otherAuthority);
  const subject = open();
  const note = await noteOf(subject);
  expect(note).toContain("certificate");
  expect(note).toEndWith(`; ca=${pathOf("ca.crt")} must hold its certificate authority`);
  put("ca.crt", pem.otherAuthority + pem.authority);
  await nextLook();
  await until("an alert is heard", () => subject.alerts().length === 1);
  expect(subject.notes()).toEqual([]);
  expect(tokens()).toEqual([`Bearer ${token}`]);
  expectNoToken();
});

test("AlertSource trusts no private authority by default", async () => {
  expect(await noteOf(open({ token: pathOf("token") }))).toEndWith("; give its certificate authority with ca=FILE");
  expect(server.requests).toEqual([]);
  expectNoToken();
});

test("AlertSource verifies the name of the setting, and sends it so that the server can choose a certificate", async () => {
  let name: unknown;
  server.script = ({ socket }, response) => {
    name = Reflect.get(socket, "servername");
    answer(response, alerts);
  };
  const subject = open({ ...known(), serverName: "kubernetes" });
  await until("an alert is heard", () => subject.alerts().length === 1);
  expect(name).toBe("kubernetes");
});

test("AlertSource sends nothing to a server whose certificate is for another name", async () => {
  const note = await noteOf(open({ ...known(), serverName: "elsewhere.example" }));
  expect(note).toContain("elsewhere.example");
  expect(note).toEndWith("; set server-name= to one of those");
  expect(server.requests).toEqual([]);
  expectNoToken();
});

for (const [what, name, text, why] of [
  ["a token's file is missing", "token", undefined, "token=FILE cannot be read (is it mounted?): ENOENT"],
  ["a token's file is empty", "token", " \n", "token=FILE cannot be read (is it mounted?): it is empty"],
  ["an authority's file is missing", "ca.crt", undefined, "ca=FILE cannot be read (is it mounted?): ENOENT"],
  ["an authority's file has none", "ca.crt", "hello", "ca=FILE has no PEM certificate"],
  [
    "one of the authorities is broken",
    "ca.crt",
    pem.authority + pem.otherAuthority.replace("MIIB", "AAAA"),
    "certificate 2 of ca=FILE cannot be read",
  ],
] as const) {
  test(`AlertSource sends no request while ${what}, says so, and continues when it is mended`, async () => {
    const before = { "token": token, "ca.crt": pem.authority };
    const subject = open();
    await until("an alert is heard", () => subject.alerts().length === 1);
    if (text === undefined) rmSync(pathOf(name));
    else put(name, text);
    await nextLook();
    expect(await noteOf(subject)).toContain(`it was not asked, because ${why.replace("FILE", pathOf(name))}`);
    expect(server.requests).toHaveLength(1);
    put(name, before[name]);
    await nextLook();
    await until("it is well again", () => subject.notes().length === 0);
    expect(tokens()).toEqual([`Bearer ${token}`, `Bearer ${token}`]);
    expectNoToken();
  });
}

for (const [status, remedy] of [
  [401, "; it refuses the token of FILE: is the token for this cluster, and has it expired?"],
  [
    403,
    "; the account of FILE may not read alerts: on OpenShift bind it to the Role monitoring-alertmanager-view in openshift-monitoring",
  ],
] as const) {
  test(`AlertSource tells a remedy for status ${status}`, async () => {
    server.script = (_request, response) => answer(response, "no", status);
    const note = await noteOf(open());
    expect(note).toEndWith(`it answered with status ${status}${remedy.replace("FILE", pathOf("token"))}`);
    expectNoToken();
  });
}

const echoes: readonly (readonly [string, Script])[] = [
  ["in its answer", ({ headers }, response) => answer(response, `${headers.authorization}`)],
  [
    "in the label of an alert",
    ({ headers }, response) => answer(response, [{ labels: { alertname: `${headers.authorization}` } }]),
  ],
  ["as an answer", ({ headers }, response) => answer(response, JSON.stringify({ error: headers.authorization }))],
  [
    "in the place of a head",
    ({ headers, socket }) => socket.end(`HTTP/1.1 200 OK\r\n${headers.authorization}\r\n\r\n`),
  ],
  ["in the place of a status", ({ headers, socket }) => socket.end(`${headers.authorization?.slice(30)}\r\n\r\n`)],
];
for (const [where, script] of echoes) {
  test(`AlertSource never shows a token that the server repeats ${where}`, async () => {
    server.script = script;
    expect(await noteOf(open())).toContain("its answer");
    expectNoToken();
  });
}

test("AlertSource follows no redirection with its token", async () => {
  server.script = (_request, response) => answer(response, "", 302, { Location: "http://elsewhere.example/" });
  expect(await noteOf(open())).toContain("it answered with status 302");
  expect(server.requests).toHaveLength(1);
});
