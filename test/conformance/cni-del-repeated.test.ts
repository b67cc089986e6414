// CNI 1.1, DEL: it may come early, late and again; each time it succeeds.
import { expect, test } from "bun:test";
import { leftovers } from "../lab/leftovers.ts";
import { containerId, expectSilence, resultOf, startNode, story } from "./node.ts";

test("a DEL for what was never added succeeds at once and runs nothing", async () => {
  await using lab = await startNode();
  expectSilence(await lab.cni("DEL", { containerId: containerId("never"), netns: lab.netns("a") }));
  expectSilence(await lab.cni("DEL", { containerId: containerId("never") }));
  expect(await lab.calls()).toEqual([]);
  expect(await leftovers(lab)).toEqual([]);
});

test("a second and third DEL succeed and run nothing", async () => {
  await using lab = await startNode();
  const call = { containerId: containerId("again"), netns: lab.netns("a") };
  resultOf(await lab.cni("ADD", call));
  for (let time = 0; time < 3; time += 1) expectSilence(await lab.cni("DEL", call));
  expect(await story(lab)).toEqual(["ADD first eth0", "DEL first eth0"]);
  expect(await leftovers(lab)).toEqual([]);
});

test("a DEL after a failed ADD succeeds and runs nothing, as the ADD undid itself", async () => {
  await using lab = await startNode();
  await lab.script("first.ADD", "exit 1");
  const call = { containerId: containerId("failed"), netns: lab.netns("a") };
  expect((await lab.cni("ADD", call)).exitCode).toBe(1);
  expectSilence(await lab.cni("DEL", call));
  expect(await story(lab)).toEqual(["ADD first eth0", "DEL first eth0"]);
  expect(await leftovers(lab)).toEqual([]);
});

test("a DEL for another interface of the same container leaves the first alone", async () => {
  await using lab = await startNode();
  const call = { containerId: containerId("other"), netns: lab.netns("a") };
  resultOf(await lab.cni("ADD", call));
  expectSilence(await lab.cni("DEL", { ...call, ifname: "eth9" }));
  expect(await story(lab)).toEqual(["ADD first eth0"]);
});

test("one container may be attached under two interface names, each deleted by itself", async () => {
  await using lab = await startNode();
  const call = { containerId: containerId("pair"), netns: lab.netns("a") };
  resultOf(await lab.cni("ADD", call));
  resultOf(await lab.cni("ADD", { ...call, ifname: "eth1" }));
  expectSilence(await lab.cni("DEL", call));
  expectSilence(await lab.cni("DEL", { ...call, ifname: "eth1" }));
  expect(await story(lab)).toEqual(["ADD first eth0", "ADD first eth1", "DEL first eth0", "DEL first eth1"]);
  expect(await leftovers(lab)).toEqual([]);
});

test("a DEL works after the daemon was restarted", async () => {
  await using lab = await startNode();
  const call = { containerId: containerId("restart"), netns: lab.netns("a") };
  resultOf(await lab.cni("ADD", call));
  await lab.killDaemon();
  await lab.startDaemon();
  expectSilence(await lab.cni("DEL", call));
  expect(await story(lab)).toEqual(["ADD first eth0", "DEL first eth0"]);
  expect(await leftovers(lab)).toEqual([]);
});
