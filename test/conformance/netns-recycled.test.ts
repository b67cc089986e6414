// A namespace is more than its path and its inode number: the kernel gives both to another one within moments.
import { spawnSync } from "node:child_process";
import { expect, setDefaultTimeout, test } from "bun:test";
import { ip, type Lab } from "../lab/lab.ts";
import { addresses, ipamFolder, leftovers } from "../lab/leftovers.ts";
import { recycleNetns } from "../lab/recycle.ts";
import { realBridge, type RealBridge } from "./bridge.ts";
import { inShort, secondRound, startGcNode } from "./garbage.ts";
import { attachments, containerId, errorOf, expectSilence, resultOf } from "./node.ts";

// The kernel may need a while to use a number again.
setDefaultTimeout(120_000);

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

let scenes = 0;

/** The path of a namespace in which a container was attached, and which has been recycled since. */
function recycledUnder(lab: Lab, container: string): Promise<string> {
  const attempt = async (): Promise<string | undefined> => {
    scenes += 1;
    const call = { containerId: containerId(container), netns: lab.netns(`s${scenes}`) };
    resultOf(await lab.cni("ADD", call));
    if ((await recycleNetns(lab, call.netns)) === true) return call.netns;
    expectSilence(await lab.cni("DEL", call));
    return undefined;
  };
  return lab.until("the kernel uses a number again", attempt, 60_000);
}

function eth0(netns: string): string {
  return ip(["-n", netns.slice(netns.lastIndexOf("/") + 1), "-br", "addr", "show", "eth0"]);
}

test("an ADD succeeds in a recycled namespace, and the late DEL of the old container does not touch it", async () => {
  await using bridge = realBridge("r");
  await using lab = await startBridgeNode(bridge);
  const netns = await recycledUnder(lab, "old");
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
  const netns = await recycledUnder(lab, "old");
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
  const call = { containerId: containerId("same"), netns: await recycledUnder(lab, "same") };
  resultOf(await lab.cni("ADD", call));
  expect(eth0(call.netns)).toContain("10.");
  expect(await addresses(lab)).toHaveLength(1);
  expectSilence(await lab.cni("DEL", call));
  expect(await leftovers(lab)).toEqual([]);
});

test("the record of a recycled namespace is dead also where nobody came after it", async () => {
  await using bridge = realBridge("w");
  await using lab = await startBridgeNode(bridge);
  // Without a living one beside it, the hand could be blind.
  resultOf(await lab.cni("ADD", { containerId: containerId("beside"), netns: lab.netns("b") }));
  await recycledUnder(lab, "old");
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
  expectSilence(await lab.cni("DEL", { containerId: containerId("second"), netns }));
  expect(spawnSync("ip", ["-n", name, "link", "show", "eth0"]).status).not.toBe(0);
  expect(await leftovers(lab)).toEqual([]);
});
