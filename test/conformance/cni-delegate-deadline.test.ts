// CNI 1.1 leaves time limits to the runtime; ours: every plugin has a deadline, dies with its children at it, and is undone.
import { readFile } from "node:fs/promises";
import { existsSync } from "node:fs";
import { expect, test } from "bun:test";
import { leftovers } from "../lab/leftovers.ts";
import { attachments, containerId, errorOf, expectSilence, leaks, resultOf, startNode, story } from "./node.ts";

const primaryOnly = { addDelegatesMs: 1_000, addUndoMs: 1_000, delDelegatesMs: 1_000 };

test("a plugin that hangs in ADD is killed with its children at the deadline, undone, and told as 105", async () => {
  await using lab = await startNode({ settings: primaryOnly });
  await lab.script("first.ADD", `sleep 600 & echo $! >"$control/child"; wait`);
  const started = performance.now();
  const error = errorOf(await lab.cni("ADD", { containerId: containerId("hang"), netns: lab.netns("a") }));
  expect(performance.now() - started).toBeLessThan(6_000);
  expect(error).toMatchObject({ code: 105, msg: expect.stringContaining("primary (eth0): first") });
  const child = (await readFile(lab.path("control/child"), "utf8")).trim();
  expect(existsSync(`/proc/${child}`)).toBe(false);
  expect(await story(lab)).toEqual(["ADD first eth0", "DEL first eth0"]);
  expect(await leftovers(lab)).toEqual([]);
});

test("a plugin that ignores SIGTERM does not outlive its deadline", async () => {
  await using lab = await startNode({ settings: primaryOnly });
  await lab.script("first.ADD", `trap '' TERM INT HUP; while :; do sleep 0.1; done`);
  expect(errorOf(await lab.cni("ADD", { containerId: containerId("stub"), netns: lab.netns("a") }))).toMatchObject({
    code: 105,
  });
  expect(await leftovers(lab)).toEqual([]);
});

test("all plugins of one ADD share the deadline", async () => {
  await using lab = await startNode({
    prepare: (lab) =>
      lab.configure({
        ...primaryOnly,
        delegates: [{ cniVersion: "1.0.0", name: "primary", plugins: [lab.conf("first"), lab.conf("second")] }],
      }),
  });
  await lab.script("first.ADD", "sleep 0.7");
  await lab.script("second.ADD", "sleep 0.7");
  expect(errorOf(await lab.cni("ADD", { containerId: containerId("sum"), netns: lab.netns("a") }))).toMatchObject({
    code: 105,
  });
  expect(await leftovers(lab)).toEqual([]);
});

test("a plugin that hangs in DEL is reported, and after some attempts kept in the leak ledger", async () => {
  await using lab = await startNode({ settings: { ...primaryOnly, delAttemptsMax: 2 } });
  const call = { containerId: containerId("del"), netns: lab.netns("a") };
  resultOf(await lab.cni("ADD", call));
  await lab.script("first.DEL", "sleep 600");
  expect(errorOf(await lab.cni("DEL", call))).toMatchObject({ code: 105 });
  expect(await attachments(lab)).toHaveLength(1);
  expectSilence(await lab.cni("DEL", call));
  expect(await attachments(lab)).toEqual([]);
  expect(await leaks(lab)).toHaveLength(1);
});

test("a child that keeps the plugin's pipes open does not hold up the call", async () => {
  await using lab = await startNode();
  await lab.script("first.ADD", `setsid sleep 30 & echo $! >"$control/child"`);
  const started = performance.now();
  resultOf(await lab.cni("ADD", { containerId: containerId("pipe"), netns: lab.netns("a") }));
  expect(performance.now() - started).toBeLessThan(5_000);
  process.kill(Number((await readFile(lab.path("control/child"), "utf8")).trim()), "SIGKILL");
});
