// A namespace is more than its path and its inode number: the kernel gives both to another one within moments.
import { spawnSync } from "node:child_process";
import { expect, test } from "bun:test";
import { ip, type Lab } from "../lab/lab.ts";
import { addresses, ipamFolder, leftovers } from "../lab/leftovers.ts";
import { recycleNetns } from "../lab/recycle.ts";
import { realBridge, type RealBridge } from "./bridge.ts";
import { inShort, secondRound, startGcNode } from "./garbage.ts";
import { attachments, containerId, errorOf, expectSilence, resultOf } from "./node.ts";

function startBridgeNode(bridge: RealBridge): Promise<Lab> {
  return startGcNode(
    {},
    {
      prepare: (lab) =>
        lab.configure({
          delegates: [bridge.conf("primary", { dataDir: ipamFolder(lab) })],
          runtimeCniDir: lab.path("cni"),
          gcIntervalMs: 0,
          gcGraceMs: 400,
        }),
    },
  );
}

function eth0(netns: string): string {
  return ip(["-n", netns.slice(netns.lastIndexOf("/") + 1), "-br", "addr", "show", "eth0"]);
}

test("an ADD succeeds in a recycled namespace, and the late DEL of the old container does not touch it", async () => {
  await using bridge = realBridge("r");
  await using lab = await startBridgeNode(bridge);
  const netns = lab.netns("a");
  resultOf(await lab.cni("ADD", { containerId: containerId("old"), netns }));
  await recycleNetns(lab, netns, "a");
  resultOf(await lab.cni("ADD", { containerId: containerId("fresh"), netns }));
  const before = eth0(netns);
  expectSilence(await lab.cni("DEL", { containerId: containerId("old"), netns }));
  expect(eth0(netns)).toBe(before);
  expect(await addresses(lab)).toHaveLength(1);
  expectSilence(await lab.cni("DEL", { containerId: containerId("fresh"), netns }));
  expect(await leftovers(lab)).toEqual([]);
});

test("garbage collection finds the record of a recycled namespace dead, and leaves the fresh one alone", async () => {
  await using bridge = realBridge("s");
  await using lab = await startBridgeNode(bridge);
  const netns = lab.netns("a");
  resultOf(await lab.cni("ADD", { containerId: containerId("old"), netns }));
  await recycleNetns(lab, netns, "a");
  resultOf(await lab.cni("ADD", { containerId: containerId("fresh"), netns }));
  const before = eth0(netns);
  expect(inShort(await secondRound(lab, "fix"))).toEqual(["attachment old detached"]);
  expect((await attachments(lab)).map((one) => one.containerId)).toEqual([containerId("fresh")]);
  expect(eth0(netns)).toBe(before);
  expect(await addresses(lab)).toHaveLength(1);
});

test("the same container in a recycled namespace is attached again, and its old attachment is undone first", async () => {
  await using bridge = realBridge("t");
  await using lab = await startBridgeNode(bridge);
  const call = { containerId: containerId("same"), netns: lab.netns("a") };
  resultOf(await lab.cni("ADD", call));
  await recycleNetns(lab, call.netns, "a");
  resultOf(await lab.cni("ADD", call));
  expect(eth0(call.netns)).toContain("10.");
  expect(await addresses(lab)).toHaveLength(1);
  expectSilence(await lab.cni("DEL", call));
  expect(await leftovers(lab)).toEqual([]);
});

test("the record of a recycled namespace is dead also where nobody came after it", async () => {
  await using bridge = realBridge("w");
  await using lab = await startBridgeNode(bridge);
  const netns = lab.netns("a");
  resultOf(await lab.cni("ADD", { containerId: containerId("old"), netns }));
  // Without a living one beside it, the hand could be blind.
  resultOf(await lab.cni("ADD", { containerId: containerId("beside"), netns: lab.netns("b") }));
  await recycleNetns(lab, netns, "a");
  expect(inShort(await secondRound(lab, "fix"))).toEqual(["attachment old detached"]);
  expect(await addresses(lab)).toHaveLength(1);
});

test("a container whose interface is gone does not keep its name, and its late DEL leaves the new interface", async () => {
  await using bridge = realBridge("u");
  await using lab = await startBridgeNode(bridge);
  const netns = lab.netns("a");
  const name = netns.slice(netns.lastIndexOf("/") + 1);
  resultOf(await lab.cni("ADD", { containerId: containerId("first"), netns }));
  ip(["-n", name, "link", "delete", "eth0"]);
  resultOf(await lab.cni("ADD", { containerId: containerId("second"), netns }));
  const before = eth0(netns);
  errorOf(await lab.cni("ADD", { containerId: containerId("third"), netns }));
  expectSilence(await lab.cni("DEL", { containerId: containerId("first"), netns }));
  expect(eth0(netns)).toBe(before);
  // The same container may come again too.
  ip(["-n", name, "link", "delete", "eth0"]);
  resultOf(await lab.cni("ADD", { containerId: containerId("second"), netns }));
  expectSilence(await lab.cni("DEL", { containerId: containerId("second"), netns }));
  expect(spawnSync("ip", ["-n", name, "link", "show", "eth0"]).status).not.toBe(0);
  expect(await leftovers(lab)).toEqual([]);
});
