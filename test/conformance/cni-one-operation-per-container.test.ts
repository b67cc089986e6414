// CNI 1.1, section 3: never two operations for one container at once; different containers run in parallel.
import { writeFile } from "node:fs/promises";
import { expect, test } from "bun:test";
import type { Lab } from "../lab/lab.ts";
import { leftovers } from "../lab/leftovers.ts";
import { attachments, containerId, errorOf, expectSilence, resultOf, startNode, story } from "./node.ts";

const untilGo = `while [ ! -e "$control/go" ]; do sleep 0.02; done`;

function running(lab: Lab, count: number): Promise<true> {
  return lab.until(`${count} plugins run`, async () => ((await lab.calls()).length >= count ? true : undefined));
}

test("five DELs at once run one chain and all succeed", async () => {
  await using lab = await startNode();
  const call = { containerId: containerId("five"), netns: lab.netns("a") };
  resultOf(await lab.cni("ADD", call));
  await lab.script("first.DEL", untilGo);
  const deletes = Array.from({ length: 5 }, () => lab.cni("DEL", call));
  await running(lab, 2);
  await lab.untilConnected(5);
  await writeFile(lab.path("control/go"), "");
  for (const outcome of await Promise.all(deletes)) expectSilence(outcome);
  expect(await story(lab)).toEqual(["ADD first eth0", "DEL first eth0"]);
  expect(await leftovers(lab)).toEqual([]);
});

test("five DELs at once that fail all hear of it, after one chain", async () => {
  await using lab = await startNode();
  const call = { containerId: containerId("fail"), netns: lab.netns("a") };
  resultOf(await lab.cni("ADD", call));
  await lab.script("first.DEL", `${untilGo}; exit 1`);
  const deletes = Array.from({ length: 5 }, () => lab.cni("DEL", call));
  await running(lab, 2);
  await lab.untilConnected(5);
  await writeFile(lab.path("control/go"), "");
  for (const outcome of await Promise.all(deletes)) errorOf(outcome);
  expect(await story(lab)).toEqual(["ADD first eth0", "DEL first eth0"]);
  expect(await attachments(lab)).toHaveLength(1);
});

test("a DEL that meets a running ADD ends after it and leaves nothing; the two never overlap", async () => {
  await using lab = await startNode();
  const call = { containerId: containerId("meet"), netns: lab.netns("a") };
  await lab.script("first.ADD", untilGo);
  const add = lab.cni("ADD", call);
  await running(lab, 1);
  const del = lab.cni("DEL", call);
  await lab.untilConnected(2);
  await Bun.sleep(200);
  expect(await story(lab)).toEqual(["ADD first eth0"]);
  await writeFile(lab.path("control/go"), "");
  expectSilence(await del);
  expect(errorOf(await add)).toMatchObject({ code: 11 });
  const calls = await lab.calls();
  expect(calls.map(({ command }) => command)).toEqual(["ADD", "DEL"]);
  expect(calls[0]?.ended).toBe(true);
  expect(await leftovers(lab)).toEqual([]);
});

test("a DEL cancels an ADD whose plugin would never end", async () => {
  await using lab = await startNode();
  const call = { containerId: containerId("stuck"), netns: lab.netns("a") };
  await lab.script("first.ADD", "sleep 600");
  const add = lab.cni("ADD", call);
  await running(lab, 1);
  const started = performance.now();
  expectSilence(await lab.cni("DEL", call));
  expect(performance.now() - started).toBeLessThan(12_000);
  expect(errorOf(await add)).toMatchObject({ code: 11 });
  expect(await story(lab)).toEqual(["ADD first eth0", "DEL first eth0"]);
  expect(await leftovers(lab)).toEqual([]);
});

test("different containers are attached in parallel", async () => {
  await using lab = await startNode();
  await lab.script("first.ADD", untilGo);
  const adds = Array.from({ length: 4 }, (_, index) =>
    lab.cni("ADD", { containerId: containerId(`par${index}x`), netns: lab.netns(`p${index}`) }),
  );
  await running(lab, 4);
  await writeFile(lab.path("control/go"), "");
  for (const outcome of await Promise.all(adds)) resultOf(outcome);
});

test("two interfaces of one container are attached one after the other", async () => {
  await using lab = await startNode();
  const call = { containerId: containerId("serial"), netns: lab.netns("a") };
  await lab.script("first.ADD", untilGo);
  const adds = [lab.cni("ADD", call), lab.cni("ADD", { ...call, ifname: "eth1" })];
  await running(lab, 1);
  await lab.untilConnected(2);
  await Bun.sleep(200);
  expect(await lab.calls()).toHaveLength(1);
  await writeFile(lab.path("control/go"), "");
  for (const outcome of await Promise.all(adds)) resultOf(outcome);
  expect(await lab.calls()).toHaveLength(2);
});

test("two ADDs of one container and interface at once attach it once", async () => {
  await using lab = await startNode();
  const call = { containerId: containerId("dup"), netns: lab.netns("a") };
  const outcomes = await Promise.all([lab.cni("ADD", call), lab.cni("ADD", call)]);
  expect(outcomes.map(({ exitCode }) => exitCode).toSorted()).toEqual([0, 1]);
  expect(await story(lab)).toEqual(["ADD first eth0"]);
  expectSilence(await lab.cni("DEL", call));
  expect(await leftovers(lab)).toEqual([]);
});
