/** Broken and hostile requests on `multus.sock`. After each test the daemon must be as sound as before. */
import { connect } from "node:net";
import { afterAll, afterEach, beforeAll, beforeEach, expect, setDefaultTimeout, test } from "bun:test";
import { readdirSync } from "node:fs";
import { expectSuccess, podCall } from "../crash/crash-node.ts";
import type { Lab } from "../lab/lab.ts";
import { callBody, makeMultusNode, multusCall, multusSock, post, untilHealthy } from "../multus/multus-node.ts";
import { Health } from "./health.ts";
import { mutateBytes } from "./mutate.ts";
import { trial, trials } from "./random.ts";

setDefaultTimeout(120_000);

let lab: Lab;
let health: Health;
let netns: string;

beforeAll(async () => {
  lab = await makeMultusNode({ addLookupMs: 200 });
  const daemon = await lab.startDaemon();
  await lab.startHand();
  await untilHealthy(lab);
  const call = podCall(lab, "warm-up");
  netns = call.netns;
  expectSuccess(await lab.cni("ADD", call));
  expectSuccess(await lab.cni("DEL", call));
  for (const verb of ["ADD", "DEL"]) expect((await multusCall(lab, verb, call)).status).toBe(200);
  await lab.forgetCalls();
  health = Health.of(lab, daemon.pid ?? 0);
});
beforeEach(() => lab.forgetCalls());
afterEach(async () => {
  expect(await lab.calls()).toEqual([]);
  expect(readdirSync(`${lab.stateDir}/offline`)).toEqual([]);
  await health.expectSound();
});
afterAll(() => lab.remove());

/** Sends bytes as they are, and resolves to all that comes back until the daemon hangs up. */
function raw(bytes: string, more?: (write: (text: string) => void) => void): Promise<string> {
  return new Promise((resolve) => {
    let heard = "";
    const socket = connect(multusSock(lab), () => {
      socket.write(bytes);
      more?.((text) => void (socket.destroyed || socket.write(text)));
    });
    socket.on("data", (chunk) => (heard += chunk.toString()));
    socket.on("error", () => undefined);
    socket.on("close", () => resolve(heard));
  });
}

function head(path: string, length: number): string {
  return `POST ${path} HTTP/1.1\r\nHost: dummy\r\nContent-Length: ${length}\r\n\r\n`;
}

test("a huge body is refused by its length, before it is sent, and an endless one at the limit", async () => {
  expect(await raw(head("/cni", 1_048_577))).toStartWith("HTTP/1.1 413 ");
  expect(await raw(head("/delegate", 99_999_999_999))).toStartWith("HTTP/1.1 413 ");
  const chunk = `10000\r\n${"x".repeat(65_536)}\r\n`;
  const chunked = "POST /cni HTTP/1.1\r\nHost: dummy\r\nTransfer-Encoding: chunked\r\n\r\n";
  expect(await raw(chunked)).toStartWith("HTTP/1.1 411 ");
  // The connection is closed while the peer still writes, which may take the answer from it.
  expect(await raw(`${chunked}${chunk.repeat(20)}`)).toMatch(/^(?:HTTP\/1\.1 41[13] |$)/u);
  expect(await raw(`GET / HTTP/1.1\r\nX: ${"a".repeat(100_000)}`)).toMatch(/^HTTP\/1\.1 4/u);
});

test("peers that are silent, send a part of their request or a byte now and then are cut off", async () => {
  let stopped = false;
  const drip = (write: (text: string) => void): void => {
    const timer = setInterval(() => (stopped ? clearInterval(timer) : write("x")), 500);
  };
  const answers = await Promise.all([
    raw(""),
    raw("POST /cni HT"),
    raw(head("/cni", 500)),
    raw(`${head("/cni", 500)}{`, drip),
    raw(head("/delegate", 100_000), drip),
  ]);
  stopped = true;
  expect(answers.map((answer) => answer.slice(0, 13))).toEqual(["", "", ...Array<string>(3).fill("HTTP/1.1 408 ")]);
  expect(lab.daemonLog).not.toContain("Bun.serve");
});

test.each([
  ["nothing", ""],
  ["rubbish", "\u0000\u0001{{{"],
  ["null", "null"],
  ["a list", "[]"],
  ["an environment that is a list", '{"env":["CNI_COMMAND=ADD"],"config":"e30="}'],
  ["a number for a text", '{"env":{"CNI_COMMAND":7},"config":"e30="}'],
  ["no environment", '{"config":"e30="}'],
  ["a prototype", '{"__proto__":{"env":{"CNI_COMMAND":"ADD"}},"config":"e30="}'],
  ["a configuration that is not JSON", '{"env":{"CNI_COMMAND":"ADD"},"config":"e3t7"}'],
  ["an object for a configuration", '{"env":{"CNI_COMMAND":"ADD"},"config":{}}'],
])("%s is refused with a reason", async (_, body) => {
  for (const path of ["/cni", "/delegate"]) {
    const answer = await post(lab, path, body);
    expect(answer).toMatchObject({ status: 400, body: expect.stringContaining('"msg": "Cannot ') });
  }
});

test.each([
  { netns: "../../etc/passwd" },
  { netns: "/var/run/netns/../../../etc" },
  { netns: "/etc/passwd" },
  { netns: "/dev/zero" },
  { netns: "/nowhere" },
  { netns: "/proc/1/ns/net" },
  { netns: `/${"x".repeat(5_000)}` },
  { containerId: "../x" },
  { containerId: "a/b" },
  { containerId: ".." },
  { containerId: "x\u0000y" },
  { containerId: "x".repeat(300) },
  { ifname: "../x" },
  { ifname: "a b" },
  { ifname: "much-longer-than-a-name" },
  { args: "K8S_POD_NAME=web" },
  { args: "K8S_POD_NAMESPACE=../..;K8S_POD_NAME=web" },
  { args: `x=${"y".repeat(40_000)}` },
])("a call with %j runs no plugin", async (tricks) => {
  const call = { containerId: "hostile", netns, args: lab.podArgs("web"), ...tricks };
  const { status, body } = await multusCall(lab, "ADD", call);
  expect(status).toBe(400);
  expect(JSON.parse(body)).toMatchObject({ code: expect.any(Number), msg: expect.stringMatching(/^Cannot /u) });
  expect((await post(lab, "/delegate", callBody(lab, "ADD", call, { name: "second" }))).status).toBe(400);
});

test("other paths and methods have nothing", async () => {
  expect((await post(lab, "/cni/", "{}")).status).toBe(404);
  expect((await post(lab, "/metrics", "{}")).status).toBe(404);
  expect(await raw("GET /cni HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")).toStartWith("HTTP/1.1 405 ");
  expect(await raw("GET /../../etc/passwd HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")).not.toContain("root:");
});

test("mutated requests are answered or cut off", async () => {
  const body = Buffer.from(callBody(lab, "CHECK", { containerId: "unknown", netns, args: lab.podArgs("web") }));
  for (const random of trials(60)) {
    await trial(random, "a mutated request", async () => {
      const bytes = mutateBytes(random, body);
      const answer = await post(lab, random.pick(["/cni", "/delegate"]), bytes.toString("latin1"));
      expect(answer.status).toBe(400);
    });
  }
});

test("a peer that vanishes at each part of its request leaves nothing", async () => {
  const body = callBody(lab, "CHECK", { containerId: "unknown", netns, args: lab.podArgs("web") });
  const whole = head("/cni", body.length) + body;
  for (let size = 0; size <= whole.length; size += 40) {
    await new Promise<void>((resolve) => {
      const socket = connect(multusSock(lab), () => socket.write(whole.slice(0, size), () => socket.destroy()));
      socket.on("error", () => undefined);
      socket.on("close", () => resolve());
    });
  }
});
