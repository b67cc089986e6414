import { rm, writeFile } from "node:fs/promises";
import { expect, test } from "bun:test";
import { attachments, errorOf } from "../conformance/node.ts";
import type { TopAnswer } from "../../src/wire/top-view.ts";
import { AdmissionNode, broken, waitsFor } from "./admission-node.ts";

/** A node whose primary has failed for so many pods that it fails for everybody. */
async function nodeWithBrokenPrimary(): Promise<AdmissionNode> {
  const node = await AdmissionNode.start();
  await node.lab.script("first.ADD", broken);
  for (const pod of ["a", "b", "c"]) {
    expect(errorOf(await node.add(pod))).toMatchObject({ msg: expect.stringContaining("the switch is away") });
  }
  return node;
}

test("a critical pod and one that waits are attached in the same call once the primary works", async () => {
  await using node = await nodeWithBrokenPrimary();
  const critical = await node.call("ADD", "dns", { namespace: "kube-system" });
  const ordinary = await node.call("ADD", "web");
  await node.lab.until("the critical pod has been tried twice", async () =>
    (await node.ran("ADD")).filter((container) => container === "dns").length >= 2 ? true : undefined,
  );
  expect([critical.seen.answer, ordinary.seen.answer]).toEqual([undefined, undefined]);
  // Each try has been undone before the next.
  expect((await node.ran("DEL")).filter((container) => container === "dns").length).toBeGreaterThanOrEqual(1);
  await node.lab.unscript("first.ADD");
  const repairedMs = performance.now();
  expect(await critical.outcome).toMatchObject({ exitCode: 0 });
  expect(performance.now() - repairedMs).toBeLessThan(6_000);
  expect(await ordinary.outcome).toMatchObject({ exitCode: 0 });
  const attached = await attachments(node.lab);
  expect(attached.map(({ containerId }) => containerId).toSorted()).toEqual(["dns", "web"]);
});

test("a critical pod that stays in its call outlives the daemon", async () => {
  await using node = await nodeWithBrokenPrimary();
  const critical = await node.call("ADD", "dns", { namespace: "kube-system" });
  await node.untilRan("DEL", "dns");
  await node.untilWaiting(1);
  await node.lab.killDaemon();
  await node.lab.unscript("first.ADD");
  await node.lab.startDaemon();
  expect(await critical.outcome).toMatchObject({ exitCode: 0 });
  expect(await attachments(node.lab)).toMatchObject([{ containerId: "dns" }]);
});

test("a DEL ends a critical pod's stay, and nothing is left of it", async () => {
  await using node = await nodeWithBrokenPrimary();
  const critical = await node.call("ADD", "dns", { namespace: "kube-system" });
  await node.untilRan("DEL", "dns");
  await node.untilWaiting(1);
  const deleted = await node.call("DEL", "dns", { namespace: "kube-system" });
  expect(await deleted.outcome).toMatchObject({ exitCode: 0 });
  expect(errorOf(await critical.outcome)).toMatchObject({ code: 11 });
  expect(await attachments(node.lab)).toEqual([]);
});

test("sandboxes that the runtime takes away while their plugin runs hold up neither the others nor the pod's next one", async () => {
  await using node = await AdmissionNode.start();
  const gone = node.lab.path("control/gone");
  await node.lab.script("first.ADD", waitsFor("gone") + broken);
  for (const pod of ["a", "b", "c", "d"]) {
    await rm(gone, { force: true });
    const lost = await node.call("ADD", pod);
    await node.untilRan("ADD", pod);
    node.lab.deleteNetns(lost.netns);
    await writeFile(gone, "");
    expect(errorOf(await lost.outcome)).toMatchObject({ msg: expect.stringContaining("the switch is away") });
  }
  expect((await node.lab.ask<TopAnswer>({ ask: "top" })).openNetworks).toEqual([]);
  await node.lab.unscript("first.ADD");
  expect(await node.add("a", { sandbox: "a-again" })).toMatchObject({ exitCode: 0 });
});
