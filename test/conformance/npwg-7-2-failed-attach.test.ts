// NPWG 7.2: the first attachment that fails stops the pod's set-up; the rest are not tried, and the runtime hears of it.
import { expect, test } from "bun:test";
import { leftovers } from "../lab/leftovers.ts";
import { containerId, errorOf, networksAnnotation, startNode, story } from "./node.ts";

test("networks behind the failed one are not tried, those before it are undone", async () => {
  await using lab = await startNode();
  for (const [name, plugin] of [
    ["a", "second"],
    ["b", "third"],
    ["c", "fourth"],
  ] as const)
    await lab.network(name, { cniVersion: "1.0.0", ...lab.conf(plugin) });
  await lab.pod("web", { [networksAnnotation]: "a,b,c" });
  await lab.script("third.ADD", "exit 1");
  const outcome = await lab.cni("ADD", {
    containerId: containerId("stop"),
    netns: lab.netns("a"),
    args: lab.podArgs("web"),
  });
  expect(errorOf(outcome).msg).toStartWith("default/b (net2): ");
  expect(await story(lab)).toEqual([
    "ADD first eth0",
    "ADD second net1",
    "ADD third net2",
    "DEL third net2",
    "DEL second net1",
    "DEL first eth0",
  ]);
  expect(await leftovers(lab)).toEqual([]);
});

test("a default network that fails keeps all others from being tried", async () => {
  await using lab = await startNode();
  await lab.network("a", { cniVersion: "1.0.0", ...lab.conf("second") });
  await lab.pod("web", { [networksAnnotation]: "a" });
  await lab.script("first.ADD", "exit 1");
  errorOf(await lab.cni("ADD", { containerId: containerId("first"), netns: lab.netns("a"), args: lab.podArgs("web") }));
  expect(await story(lab)).toEqual(["ADD first eth0", "DEL first eth0"]);
});

test("a pod that is not known is an error, never a pod with fewer networks", async () => {
  await using lab = await startNode({ settings: { addLookupMs: 200 } });
  const outcome = await lab.cni("ADD", {
    containerId: containerId("ghost"),
    netns: lab.netns("a"),
    args: lab.podArgs("ghost"),
  });
  expect(errorOf(outcome)).toMatchObject({ code: 100, msg: expect.stringContaining("default/ghost") });
  expect(await lab.calls()).toEqual([]);
  expect(await leftovers(lab)).toEqual([]);
});

test("a pod that appears a moment later is waited for", async () => {
  await using lab = await startNode();
  await lab.network("a", { cniVersion: "1.0.0", ...lab.conf("second") });
  const add = lab.cni("ADD", { containerId: containerId("late"), netns: lab.netns("a"), args: lab.podArgs("late") });
  await lab.untilConnected(1);
  await lab.pod("late", { [networksAnnotation]: "a" });
  expect((await add).exitCode).toBe(0);
  expect(await story(lab)).toEqual(["ADD first eth0", "ADD second net1"]);
});
