import { describe, expect, test } from "bun:test";
import { existsSync, readdirSync, writeFileSync } from "node:fs";
import { attachments, errorOf } from "../conformance/node.ts";
import { freePort } from "../lab/free-port.ts";
import type { Lab } from "../lab/lab.ts";
import { AdmissionNode, waitsFor } from "./admission-node.ts";

/** Longest answer of a call that never queues, on a busy machine where calls in line wait for seconds. */
const promptMsMax = 1_500;

/** One slot, and its holder waits for the file `go`. */
async function nodeWithOneSlot(settings: Readonly<Record<string, unknown>> = {}): Promise<AdmissionNode> {
  const node = await AdmissionNode.start({ attachCeiling: 1, detachCeiling: 1, ...settings });
  await node.lab.script("first.ADD", waitsFor("go"));
  return node;
}

function go(lab: Lab, name = "go"): void {
  writeFileSync(lab.path("control", name), "");
}

function offlineRecords(lab: Lab): readonly string[] {
  const folder = lab.path("state/offline");
  return existsSync(folder) ? readdirSync(folder).filter((name) => name.endsWith(".del")) : [];
}

describe("an ADD in line", () => {
  test("is told its position and when to expect service once its time is over", async () => {
    await using node = await nodeWithOneSlot({ addQueueMs: 2_000 });
    // So that something is known of how long one takes.
    go(node.lab);
    expect(await node.add("known")).toMatchObject({ exitCode: 0 });
    await node.lab.script("first.ADD", waitsFor("later"));
    const first = await node.call("ADD", "first");
    await node.untilRan("ADD", "first");
    const second = await node.call("ADD", "second");
    expect(errorOf(await second.outcome)).toMatchObject({
      code: 11,
      msg: expect.stringMatching(
        /^Cannot attach now: waited (1\.[6-9]|2(\.\d)?) s because all slots are taken, position 1 in line \(1 of its namespace\), about \d+(\.\d)? s more/u,
      ),
    });
    expect(second.seen.tookMs).toBeWithin(1_700, 3_500);
    go(node.lab, "later");
    expect(await first.outcome).toMatchObject({ exitCode: 0 });
  });

  test("waits 15 s at most once a conf changes, because the runtime waits until its calls have ended", async () => {
    await using node = await AdmissionNode.startWithConfs({ attachCeiling: 1 });
    await node.lab.script("first.ADD", waitsFor("go"));
    const first = await node.call("ADD", "first");
    await node.untilRan("ADD", "first");
    const second = await node.call("ADD", "second");
    await node.untilWaiting(1);
    writeFileSync(node.lab.path("net.d/some-kubeconfig"), "token");
    expect(errorOf(await second.outcome)).toMatchObject({
      code: 11,
      msg: expect.stringMatching(/^Cannot attach now: waited 1[4-9](\.\d)? s because a CNI configuration changed/u),
    });
    go(node.lab);
    expect(await first.outcome).toMatchObject({ exitCode: 0 });
  });

  test("gives way to a later call for the same pod, which takes its turn", async () => {
    await using node = await nodeWithOneSlot();
    const first = await node.call("ADD", "first");
    await node.untilRan("ADD", "first");
    const old = await node.call("ADD", "pod", { sandbox: "old" });
    await node.untilWaiting(1);
    const retried = await node.call("ADD", "pod", { sandbox: "new" });
    expect(errorOf(await old.outcome)).toMatchObject({
      code: 11,
      msg: expect.stringContaining("the runtime asked again for the same pod"),
    });
    go(node.lab);
    expect(await retried.outcome).toMatchObject({ exitCode: 0 });
    expect(await first.outcome).toMatchObject({ exitCode: 0 });
    expect(await node.ran("ADD")).toEqual(["first", "new"]);
  });

  test("costs nothing once its shim is gone", async () => {
    await using node = await nodeWithOneSlot();
    const first = await node.call("ADD", "first");
    await node.untilRan("ADD", "first");
    const gone = await node.call("ADD", "gone");
    const next = await node.call("ADD", "next");
    await node.untilWaiting(2);
    gone.process.kill("SIGKILL");
    await node.untilWaiting(1);
    go(node.lab);
    expect(await next.outcome).toMatchObject({ exitCode: 0 });
    expect(await first.outcome).toMatchObject({ exitCode: 0 });
    expect(await node.ran("ADD")).toEqual(["first", "next"]);
  });

  test("of a critical pod goes before all that came earlier", async () => {
    await using node = await nodeWithOneSlot();
    const first = await node.call("ADD", "first");
    await node.untilRan("ADD", "first");
    const others = await Promise.all(["a", "b", "c"].map((pod) => node.call("ADD", pod)));
    await node.untilWaiting(3);
    const critical = await node.call("ADD", "dns", { namespace: "kube-system" });
    await node.untilWaiting(4);
    go(node.lab);
    for (const { outcome } of [first, critical, ...others]) expect(await outcome).toMatchObject({ exitCode: 0 });
    expect((await node.ran("ADD")).slice(0, 2)).toEqual(["first", "dns"]);
  });
});

test("an ADD in a namespace that criticalPods names goes before all that came earlier", async () => {
  await using node = await nodeWithOneSlot({ criticalPods: ["edge", "db/app=pg"] });
  const first = await node.call("ADD", "first");
  await node.untilRan("ADD", "first");
  const others = await Promise.all(["a", "b"].map((pod) => node.call("ADD", pod, { namespace: "tenant" })));
  await node.untilWaiting(2);
  const named = await node.call("ADD", "ingress", { namespace: "edge" });
  await node.untilWaiting(3);
  go(node.lab);
  for (const { outcome } of [first, named, ...others]) expect(await outcome).toMatchObject({ exitCode: 0 });
  expect((await node.ran("ADD")).slice(0, 2)).toEqual(["first", "ingress"]);
});

test("a full line keeps neither health, metrics, STATUS, VERSION nor questions waiting, and turns the next away", async () => {
  const ports = { healthPort: await freePort(), metricsPort: await freePort() };
  await using node = await nodeWithOneSlot({ waitingMax: 16, ...ports });
  const first = await node.call("ADD", "first");
  await node.untilRan("ADD", "first");
  const waiting = await Promise.all(Array.from({ length: 16 }, (_, pod) => node.call("ADD", `pod${pod}`)));
  await node.untilWaiting(16);
  const refused = await node.call("ADD", "more");
  expect(errorOf(await refused.outcome)).toMatchObject({ code: 11, msg: expect.stringContaining("the line is full") });
  const beganMs = performance.now();
  const [health, metrics, status, version] = await Promise.all([
    fetch(`http://127.0.0.1:${ports.healthPort}/healthz`),
    fetch(`http://127.0.0.1:${ports.metricsPort}/metrics`),
    (await node.call("STATUS", "status")).outcome,
    node.lab.cni("VERSION", { containerId: "" }),
    node.lab.ask({ ask: "node" }),
  ]);
  expect(performance.now() - beganMs).toBeLessThan(promptMsMax);
  expect([health.status, metrics.status, status.exitCode, version.exitCode]).toEqual([200, 200, 0, 0]);
  expect(waiting.filter(({ seen }) => seen.answer !== undefined)).toEqual([]);
  go(node.lab);
  for (const { outcome } of [first, ...waiting]) expect(await outcome).toMatchObject({ exitCode: 0 });
});

test("a DEL is served while every slot of ADDs is taken and many wait", async () => {
  await using node = await nodeWithOneSlot();
  go(node.lab);
  expect(await node.add("old")).toMatchObject({ exitCode: 0 });
  await node.lab.script("first.ADD", waitsFor("later"));
  const adds = await Promise.all(["a", "b", "c"].map((pod) => node.call("ADD", pod)));
  await node.untilWaiting(2);
  const deleted = await node.call("DEL", "old");
  expect(await deleted.outcome).toMatchObject({ exitCode: 0 });
  expect(adds.map(({ seen }) => seen.answer)).toEqual([undefined, undefined, undefined]);
  go(node.lab, "later");
  for (const { outcome } of adds) expect(await outcome).toMatchObject({ exitCode: 0 });
});

test("a DEL that waits too long, of a plugin that cleans up without the namespace, is made durable, succeeds, and is carried out later", async () => {
  await using node = await AdmissionNode.startWith("macvlan", { detachCeiling: 1, delQueueMs: 1_000 });
  for (const pod of ["a", "b"]) expect(await node.add(pod)).toMatchObject({ exitCode: 0 });
  await node.lab.script("macvlan.DEL", waitsFor("deleted"));
  const first = await node.call("DEL", "a");
  await node.untilRan("DEL", "a");
  const second = await node.call("DEL", "b");
  expect(await second.outcome).toMatchObject({ exitCode: 0, stdout: "" });
  expect(second.seen.tookMs).toBeWithin(700, 4_000);
  expect(offlineRecords(node.lab)).toHaveLength(1);
  expect((await attachments(node.lab)).map(({ containerId }) => containerId)).toContain("b");
  go(node.lab, "deleted");
  expect(await first.outcome).toMatchObject({ exitCode: 0 });
  await node.lab.startHand();
  await node.lab.until("the delete is carried out", async () =>
    (await attachments(node.lab)).length === 0 && offlineRecords(node.lab).length === 0 ? true : undefined,
  );
  expect((await node.ran("DEL")).toSorted()).toEqual(["a", "b"]);
});
