// CNI_NETNS that is no network namespace: refused at once by ADD and CHECK, and gone for DEL. No call waits for it.
import { spawnSync } from "node:child_process";
import { rm, writeFile } from "node:fs/promises";
import { expect, test } from "bun:test";
import type { Lab } from "../lab/lab.ts";
import { leftovers } from "../lab/leftovers.ts";
import { inShort, round, startGcNode } from "./garbage.ts";
import { containerId, errorOf, expectSilence, onlyCall, resultOf, startNode } from "./node.ts";

/** A call must not depend on the path: a FIFO that is opened for reading waits for a writer, for ever. */
const promptMs = 10_000;

async function others(lab: Lab): Promise<Readonly<Record<string, string>>> {
  const fifo = lab.path("fifo");
  expect(spawnSync("mkfifo", [fifo]).status).toBe(0);
  const file = lab.path("file");
  await writeFile(file, "");
  return { fifo, file, folder: lab.path("control"), device: "/dev/null", pidNamespace: "/proc/self/ns/pid" };
}

test("ADD and CHECK refuse every other kind of file by its path, before anything runs", async () => {
  await using lab = await startNode();
  for (const [kind, netns] of Object.entries(await others(lab))) {
    for (const verb of ["ADD", "CHECK"]) {
      const beganMs = performance.now();
      const error = errorOf(await lab.cni(verb, { containerId: containerId(kind), netns }));
      expect({ kind, verb, code: error.code, named: error.msg.includes(netns) }).toEqual({
        kind,
        verb,
        code: 8,
        named: true,
      });
      expect(performance.now() - beganMs).toBeLessThan(promptMs);
    }
  }
  expect(await lab.calls()).toEqual([]);
  expect(await leftovers(lab)).toEqual([]);
});

test("DEL takes a path that is no namespace by now for a namespace that is gone", async () => {
  await using lab = await startNode();
  for (const [kind, path] of Object.entries(await others(lab))) {
    const netns = lab.netns("a");
    resultOf(await lab.cni("ADD", { containerId: containerId(kind), netns }));
    const beganMs = performance.now();
    expectSilence(await lab.cni("DEL", { containerId: containerId(kind), netns: path }));
    expect(performance.now() - beganMs).toBeLessThan(promptMs);
    expect((await onlyCall(lab, "DEL", "first")).env["CNI_NETNS"] ?? "").toBe("");
    // A container that was never added.
    expectSilence(await lab.cni("DEL", { containerId: containerId(`never${kind}`), netns: path }));
    lab.deleteNetns(netns);
    await lab.forgetCalls();
  }
  expect(await leftovers(lab)).toEqual([]);
});

test("the resident hand's look at a FIFO in a namespace's place neither waits nor detaches", async () => {
  await using lab = await startGcNode();
  const call = { containerId: containerId("piped"), netns: lab.netns("a") };
  resultOf(await lab.cni("ADD", call));
  lab.deleteNetns(call.netns);
  expect(spawnSync("mkfifo", [call.netns]).status).toBe(0);
  try {
    expect(inShort(await round(lab, "fix"))).toEqual(["attachment piped report"]);
    expectSilence(await lab.cni("DEL", call));
  } finally {
    await rm(call.netns);
  }
  expect(await leftovers(lab)).toEqual([]);
});
