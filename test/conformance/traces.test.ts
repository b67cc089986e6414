// Traces: the runtime's context goes through the call to every plugin, and the spans of a call to a collector.
import { expect, test } from "bun:test";
import { writeFile } from "node:fs/promises";
import type { Lab } from "../lab/lab.ts";
import { levee } from "../lab/levee.ts";
import { OtlpReceiver, type OtlpScript, type SeenSpan } from "../lab/otlp-receiver.ts";
import { KubeNode } from "./kube-node.ts";
import { containerId, errorOf, expectSilence, networksAnnotation, onlyCall, resultOf, startNode } from "./node.ts";

const traceId = "0af7651916cd43dd8448eb211c80319c";
const runtimeSpan = "b7ad6b7169203331";
const context = {
  TRACEPARENT: `00-${traceId}-${runtimeSpan}-01`,
  TRACESTATE: "vendor=x",
  BAGGAGE: "team=net",
};
const uid = "6fa459ea-ee8a-3ca4-894e-db77e160355e";
const uidTrace = uid.replaceAll("-", "");

/** A node that sends every trace to the receiver. */
function tracedNode(receiver: OtlpReceiver, settings: Readonly<Record<string, unknown>> = {}): Promise<Lab> {
  return startNode({ settings: { tracesEndpoint: receiver.endpoint, tracesOneIn: 1, ...settings } });
}

async function untilSpans(lab: Lab, receiver: OtlpReceiver, name: string, count = 1): Promise<readonly SeenSpan[]> {
  const found = await lab.until(`the collector has ${count} spans ${name}`, () =>
    Promise.resolve(receiver.named(name).length >= count ? receiver.named(name) : undefined),
  );
  expect(receiver.problems).toEqual([]);
  return found;
}

async function twoNetworks(lab: Lab): Promise<void> {
  await lab.network("lan", { cniVersion: "1.1.0", name: "lan", ...lab.conf("second") });
  await lab.pod("web", { [networksAnnotation]: "lan" });
}

function callOf(lab: Lab, name: string, args = lab.podArgs("web")): Parameters<Lab["cni"]>[1] {
  return { containerId: containerId(name), netns: lab.netns(name), args };
}

test("the runtime's trace goes on: a span for the call, one for each part, and each plugin knows its own", async () => {
  await using receiver = await OtlpReceiver.listen();
  await using lab = await tracedNode(receiver);
  await twoNetworks(lab);
  resultOf(await lab.cni("ADD", { ...callOf(lab, "web"), env: context }));
  const [call] = await untilSpans(lab, receiver, "CNI ADD");
  if (call === undefined) throw new Error("no span");
  expect(call).toMatchObject({ traceId, parentSpanId: runtimeSpan, traceState: "vendor=x", kind: 2, status: {} });
  expect(call.attributes).toMatchObject({
    "cni.command": "ADD",
    "cni.ifname": "eth0",
    "cni.networks": ["default/lan"],
    "container.id": containerId("web"),
    "k8s.namespace.name": "default",
    "k8s.pod.name": "web",
    "levee.attempt": 1,
  });
  expect(receiver.resource).toMatchObject({ "service.name": "levee" });
  const parts = receiver.spans.filter(({ parentSpanId }) => parentSpanId === call.spanId);
  expect(parts.map(({ name }) => name)).toEqual([
    "look-up",
    "look-up behind the line",
    "journal plan",
    "ADD first",
    "ADD second",
    "journal result",
    "journal delivery",
  ]);
  for (const part of parts) {
    expect(part.traceId).toBe(traceId);
    expect(part.startNano).toBeGreaterThanOrEqual(call.startNano);
    expect(part.endNano).toBeGreaterThanOrEqual(part.startNano);
    expect(part.endNano).toBeLessThanOrEqual(call.endNano);
  }
  for (const [plugin, network] of [
    ["first", "primary"],
    ["second", "default/lan"],
  ] as const) {
    const [span] = receiver.named(`ADD ${plugin}`);
    expect(span?.attributes).toMatchObject({ "cni.plugin": plugin, "cni.network": network, "process.exit.code": 0 });
    expect(span?.attributes["levee.max_rss_bytes"]).toBeGreaterThan(100_000);
    const { env } = await onlyCall(lab, "ADD", plugin);
    expect(env).toMatchObject({ ...context, TRACEPARENT: `00-${traceId}-${span?.spanId ?? ""}-01` });
  }
  // The same IDs in the log and in the pod's story.
  expect(lab.daemonLog).toContain(`"trace":"${traceId}","span":"${call.spanId}"`);
  const { out } = await levee(lab, "why", "web", "-o", "wide");
  expect(out).toContain(`trace=${traceId} span=${call.spanId}`);
  expect(out).toMatch(new RegExp(`ran .*first.* span=${receiver.named("ADD first")[0]?.spanId ?? "none"}`, "u"));
});

test("without a context the pod's UID is the trace: all tries of a pod and its DEL are one", async () => {
  await using receiver = await OtlpReceiver.listen();
  await using lab = await tracedNode(receiver);
  await twoNetworks(lab);
  const args = `${lab.podArgs("web")};K8S_POD_UID=${uid}`;
  await lab.script("second.ADD", 'echo \'{"code":7,"msg":"no room"}\'; exit 1');
  expect(errorOf(await lab.cni("ADD", callOf(lab, "one", args))).msg).toContain("no room");
  await lab.unscript("second.ADD");
  // The look at the pod's wants ends its hold.
  await lab.pod("web", { [networksAnnotation]: "lan", changed: "1" });
  const second = callOf(lab, "two", args);
  await lab.until("the pod may try again", async () =>
    (await lab.cni("ADD", second)).exitCode === 0 ? true : undefined,
  );
  expectSilence(await lab.cni("DEL", second));
  await untilSpans(lab, receiver, "CNI DEL");
  const calls = receiver.spans.filter(({ kind }) => kind === 2);
  expect(new Set(receiver.spans.map((span) => span.traceId))).toEqual(new Set([uidTrace]));
  expect(calls.map(({ parentSpanId }) => parentSpanId)).toEqual(calls.map(() => ""));
  expect(calls[0]).toMatchObject({ name: "CNI ADD", status: { code: 2 } });
  expect(calls[0]?.status.message).toContain("no room");
  expect(calls[0]?.attributes).toMatchObject({ "error.type": "delegate-failed", "k8s.pod.uid": uid });
  const [failed] = receiver.named("ADD second");
  expect(failed).toMatchObject({ status: { code: 2 }, attributes: { "process.exit.code": 1 } });
  // The undo of the first try belongs to that call.
  const [first, last] = [calls.at(0)?.spanId, calls.at(-1)?.spanId];
  for (const name of ["DEL first", "journal removal"]) {
    const parents = receiver.named(name).map(({ parentSpanId }) => parentSpanId);
    expect([parents.at(0), parents.at(-1)]).toEqual([first, last]);
  }
  const undo = (await lab.calls()).find(({ command }) => command === "DEL");
  expect(undo?.env["TRACEPARENT"]).toStartWith(`00-${uidTrace}-`);
});

test("a call that waits in line has a span for it, and one that is sent away says why", async () => {
  await using receiver = await OtlpReceiver.listen();
  await using lab = await tracedNode(receiver, { attachCeiling: 1, addQueueMs: 1_500 });
  for (const name of ["a", "b"]) await lab.pod(name, {});
  await lab.script("first.ADD", `while [ ! -e ${lab.path("go")} ]; do sleep 0.05; done`);
  const runs = lab.cni("ADD", callOf(lab, "a", lab.podArgs("a")));
  await lab.until("the first runs", async () => ((await lab.calls()).length === 1 ? true : undefined));
  expect(errorOf(await lab.cni("ADD", callOf(lab, "b", lab.podArgs("b")))).code).toBe(11);
  await writeFile(lab.path("go"), "");
  resultOf(await runs);
  const [wait] = await untilSpans(lab, receiver, "wait in line");
  expect(wait?.status.code).toBe(2);
  expect(Number((wait?.endNano ?? 0n) - (wait?.startNano ?? 0n)) / 1e6).toBeGreaterThan(1_000);
  expect(receiver.spans.find(({ spanId }) => spanId === wait?.parentSpanId)?.status.code).toBe(2);
});

test("a call of which the runtime says that it is not recorded is sent only when it fails", async () => {
  await using receiver = await OtlpReceiver.listen();
  await using lab = await tracedNode(receiver);
  await twoNetworks(lab);
  const env = { TRACEPARENT: context.TRACEPARENT.replace(/01$/u, "00") };
  resultOf(await lab.cni("ADD", { ...callOf(lab, "good"), env }));
  expect((await onlyCall(lab, "ADD", "first")).env["TRACEPARENT"]).toMatch(/-00$/u);
  await lab.script("first.ADD", "exit 3");
  errorOf(await lab.cni("ADD", { ...callOf(lab, "bad"), env }));
  const calls = await untilSpans(lab, receiver, "CNI ADD");
  expect(calls.map(({ attributes }) => attributes["container.id"])).toEqual([containerId("bad")]);
});

test("tracesOneIn 0 sends failures only", async () => {
  await using receiver = await OtlpReceiver.listen();
  await using lab = await tracedNode(receiver, { tracesOneIn: 0 });
  await twoNetworks(lab);
  resultOf(await lab.cni("ADD", callOf(lab, "good")));
  await lab.script("first.ADD", "exit 3");
  errorOf(await lab.cni("ADD", callOf(lab, "bad")));
  const calls = await untilSpans(lab, receiver, "CNI ADD");
  expect(calls.map(({ attributes }) => attributes["container.id"])).toEqual([containerId("bad")]);
});

test.each([
  ["too long", { TRACEPARENT: `${context.TRACEPARENT}${"0".repeat(5_000)}`, BAGGAGE: `a=${"x".repeat(9_000)}` }],
  [
    "control characters",
    { TRACEPARENT: `00-${traceId}\n-${runtimeSpan}-01`, TRACESTATE: "a=\u001b[2J", BAGGAGE: "a=\n" },
  ],
  ["a wrong form", { TRACEPARENT: "00-nothing-01", TRACESTATE: "a=1", BAGGAGE: "no list" }],
])("values of the runtime that are hostile by %s change nothing and are dropped", async (_how, env) => {
  await using receiver = await OtlpReceiver.listen();
  await using lab = await tracedNode(receiver);
  await twoNetworks(lab);
  resultOf(await lab.cni("ADD", { ...callOf(lab, "web", `${lab.podArgs("web")};K8S_POD_UID=${uid}`), env }));
  const [call] = await untilSpans(lab, receiver, "CNI ADD");
  expect(call).toMatchObject({ traceId: uidTrace, parentSpanId: "", traceState: "" });
  const plugin = await onlyCall(lab, "ADD", "first");
  expect(plugin.env["TRACEPARENT"]).toStartWith(`00-${uidTrace}-`);
  expect(plugin.env).not.toHaveProperty("TRACESTATE");
  expect(plugin.env).not.toHaveProperty("BAGGAGE");
});

test("without an endpoint the plugins get the runtime's own context, and neither log nor story has IDs", async () => {
  await using lab = await startNode();
  await twoNetworks(lab);
  resultOf(await lab.cni("ADD", { ...callOf(lab, "web"), env: context }));
  expect((await onlyCall(lab, "ADD", "second")).env).toMatchObject(context);
  expect(lab.daemonLog).not.toContain('"trace"');
  expect((await levee(lab, "why", "web", "-o", "wide")).out).not.toContain("trace=");
});

test("a call that a new daemon goes on with stays in its trace", async () => {
  await using receiver = await OtlpReceiver.listen();
  await using lab = await tracedNode(receiver);
  await twoNetworks(lab);
  await lab.script("second.ADD", `while [ ! -e ${lab.path("go")} ]; do sleep 0.05; done`);
  const call = lab.cni("ADD", { ...callOf(lab, "web"), env: context });
  await lab.until("the second plugin runs", async () => ((await lab.calls()).length === 2 ? true : undefined));
  await lab.killDaemon();
  await lab.startDaemon();
  await writeFile(lab.path("go"), "");
  resultOf(await call);
  const [resumed] = await untilSpans(lab, receiver, "CNI ADD");
  expect(resumed).toMatchObject({ traceId, parentSpanId: runtimeSpan, attributes: { "levee.resumed": true } });
});

test("an orderly stop sends what waits", async () => {
  await using receiver = await OtlpReceiver.listen();
  await using lab = await tracedNode(receiver);
  await twoNetworks(lab);
  resultOf(await lab.cni("ADD", callOf(lab, "web")));
  await lab.killDaemon("SIGTERM");
  expect(receiver.named("CNI ADD")).toHaveLength(1);
});

test("the write of the network-status is a span of the call's trace", async () => {
  await using receiver = await OtlpReceiver.listen();
  await using node = await KubeNode.start(undefined, { tracesEndpoint: receiver.endpoint, tracesOneIn: 1 });
  await node.synced();
  node.api.pod("web", { [networksAnnotation]: "net-a" });
  resultOf((await node.add("web", { uid: "uid-of-web" })).outcome);
  const [status] = await untilSpans(node.lab, receiver, "network-status");
  const [call] = receiver.named("CNI ADD");
  expect(status).toMatchObject({ traceId: call?.traceId ?? "", parentSpanId: call?.spanId ?? "", status: {} });
});

test.each<[string, OtlpScript]>([
  ["hangs", () => undefined],
  ["refuses", (response) => response.writeHead(400).end("no")],
  ["answers rubbish", (response) => response.socket?.end("\u0000 no HTTP \r\n\r\n")],
  ["asks for a pause", (response) => response.writeHead(429, { "Retry-After": "600" }).end()],
])("a collector that %s holds up no call, and an orderly stop neither", async (_how, script) => {
  await using receiver = await OtlpReceiver.listen();
  receiver.script = script;
  await using lab = await tracedNode(receiver);
  await twoNetworks(lab);
  for (const name of ["one", "two", "three"]) {
    const beganMs = performance.now();
    resultOf(await lab.cni("ADD", callOf(lab, name)));
    expect(performance.now() - beganMs).toBeLessThan(5_000);
    await lab.until("the collector was asked", () => Promise.resolve(receiver.requests > 0 || undefined));
  }
  const stopMs = performance.now();
  expect(await lab.killDaemon("SIGTERM")).toBe(0);
  expect(performance.now() - stopMs).toBeLessThan(8_000);
  expect(lab.daemonLog.split("The collector does not take traces").length).toBeLessThanOrEqual(2);
  expect(receiver.problems).toEqual([]);
});
