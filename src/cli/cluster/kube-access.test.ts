import { afterEach, beforeEach, expect, test } from "bun:test";
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fakeShell, type FakeShell } from "../fake-shell.fixture.ts";
import { kubeAccess } from "./kube-access.ts";

let folder: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "levee-access-"));
});

afterEach(() => rmSync(folder, { recursive: true }));

function kubeconfig(name: string, server: string, user = "token: t"): string {
  const path = join(folder, name);
  writeFileSync(
    path,
    `current-context: main
contexts: [{name: main, context: {cluster: c, user: u}}, {name: second, context: {cluster: c2, user: u}}]
clusters: [{name: c, cluster: {server: "http://${server}.test"}}, {name: c2, cluster: {server: "http://2.${server}.test"}}]
users: [{name: u, user: {${user}}}]
`,
  );
  return path;
}

function shell(env: Readonly<Record<string, string>> = {}): FakeShell {
  return fakeShell({ env: { HOME: folder, ...env } });
}

test("kubeAccess looks where kubectl looks, in its order", async () => {
  const inCluster = { KUBERNETES_SERVICE_HOST: "fd00::1", KUBERNETES_SERVICE_PORT: "443" };
  expect(kubeAccess(shell(), {})).rejects.toThrow("Cannot find a cluster");
  expect(kubeAccess(shell(inCluster), { context: "main" })).rejects.toThrow("Cannot find a cluster");
  expect((await kubeAccess(shell(inCluster), {})).server).toBe(`https://${"[fd00::1]"}:443`);
  mkdirSync(join(folder, ".kube"));
  kubeconfig(".kube/config", "home");
  expect((await kubeAccess(shell(inCluster), {})).server).toBe("http://home.test");
  const nowhere = join(folder, "nowhere");
  expect(kubeAccess(shell({ KUBECONFIG: nowhere }), {})).rejects.toThrow(
    `KUBECONFIG names ${nowhere}, which does not exist`,
  );
  const KUBECONFIG = `${join(folder, "missing")}:${kubeconfig("listed", "listed")}`;
  expect((await kubeAccess(shell({ KUBECONFIG }), {})).server).toBe("http://listed.test");
  const given = kubeconfig("given", "given");
  expect((await kubeAccess(shell({ KUBECONFIG }), { kubeconfig: given })).server).toBe("http://given.test");
  expect((await kubeAccess(shell(), { kubeconfig: given, context: "second" })).server).toBe("http://2.given.test");
  expect(kubeAccess(shell(), { kubeconfig: join(folder, "missing") })).rejects.toThrow("ENOENT");
});

function login(script: string): void {
  writeFileSync(join(folder, "login"), `#!/bin/sh\n${script}\n`);
  chmodSync(join(folder, "login"), 0o755);
}

async function loggedIn(fields = ""): Promise<unknown> {
  const exec = `exec: {apiVersion: client.authentication.k8s.io/v1, command: ./login, provideClusterInfo: true${fields}}`;
  const access = await kubeAccess(shell({ MINE: "1" }), { kubeconfig: kubeconfig("config", "server", exec) });
  return (await access.credentials()).token;
}

test("kubeAccess runs a login program with the environment and what it is to know", async () => {
  login(`test "$MINE" = 1 || exit 3
case "$KUBERNETES_EXEC_INFO" in *'"interactive":false,"cluster":{"server":"http://server.test"}'*) ;; *) exit 4 ;; esac
echo '{"apiVersion":"client.authentication.k8s.io/v1","kind":"ExecCredential","status":{"token":"secret","expirationTimestamp":"2099-01-01T00:00:00Z"}}'`);
  expect(await loggedIn()).toBe("secret");
});

const answer = (status: string, version = "v1"): string =>
  `echo '{"apiVersion":"client.authentication.k8s.io/${version}","status":${status}}'`;

for (const [what, script, fields, message] of [
  ["fails", "echo no luck >&2; exit 7", "", "it ended with 7: no luck"],
  ["answers in another version", answer('{"token":"t"}', "v1beta1"), "", "must have the apiVersion"],
  ["answers nonsense", "echo secret", "", "login: its answer is not JSON"],
  ["gives nothing", answer("{}"), "", "neither token nor certificate"],
  ["gives half a pair", answer('{"clientCertificateData":"c"}'), "", "a certificate without its key"],
  ["gives a wrong time", answer('{"token":"t","expirationTimestamp":"soon"}'), "", "is not a time: soon"],
  ["needs a terminal", "", ", interactiveMode: Always", "it needs a terminal"],
] as const) {
  test(`kubeAccess says why a login program does not help that ${what}`, () => {
    login(script);
    expect(loggedIn(fields)).rejects.toThrow(message);
  });
}

test("kubeAccess says how to install a login program that is missing", () => {
  expect(loggedIn(", installHint: get it here")).rejects.toThrow("it is not installed (get it here)");
});
