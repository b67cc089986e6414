import { expect, test } from "bun:test";
import { spawn, type ChildProcess } from "node:child_process";
import { mkdir, readFile, truncate, utimes, writeFile } from "node:fs/promises";
import { basename, join } from "node:path";
import type { Lab } from "../lab/lab.ts";
import { addStory, delStory, expectSuccess, makeNode, podCall, story, untilPhase, type PodCall } from "./crash-node.ts";
import { expectNothingLeft } from "./nothing-left.ts";

/**
 * The end of the journal is lost without a reboot: a disk error, a repair of the file system, and the daemon starts
 * again. The lines are gone, not damaged, so nothing shows the loss.
 */

test("the runtime has the result: the pod keeps its network, and the attachment counts as acknowledged again", async () => {
  await using lab = await makeNodeWithResults();
  const call = await attachedThenCut(lab, 1);
  await keepResult(lab, call);
  await lab.startDaemon();
  await lab.startHand();
  await untilPhase(lab, "attached");
  expect(await story(lab)).toEqual(addStory);
  expect(lab.daemonLog).toContain("the runtime has the result");
  // It is in the journal, so the next start does not ask again.
  await lab.killDaemon();
  await lab.startDaemon();
  await untilPhase(lab, "attached");
  expectSuccess(await lab.cni("DEL", call));
  expect(await story(lab)).toEqual([...addStory, ...delStory]);
  await expectNothingLeft(lab, { netns: [call.netns] });
});

test("the runtime's result is not found, and a process runs in the namespace: it keeps its network until it ends", async () => {
  await using lab = await makeNodeWithResults();
  const call = await attachedThenCut(lab, 1);
  const container = await runIn(call.netns);
  try {
    await lab.startDaemon();
    await lab.startHand();
    await lab.until("the daemon says why it waits", () =>
      Promise.resolve(lab.daemonLog.includes("a process is in its namespace") || undefined),
    );
    expect(await story(lab)).toEqual(addStory);
    expect((await untilPhase(lab, "lost")).containerId).toBe(call.containerId);
  } finally {
    container.kill("SIGKILL");
  }
  await expectNothingLeft(lab, { netns: [call.netns] });
});

test("the runtime's result is not found, a process runs in the namespace, and the DEL comes: nothing is left", async () => {
  await using lab = await makeNodeWithResults();
  const call = await attachedThenCut(lab, 1);
  const container = await runIn(call.netns);
  try {
    await lab.startDaemon();
    await lab.startHand();
    expectSuccess(await lab.cni("DEL", call));
    expect(await story(lab)).toEqual([...addStory, ...delStory]);
    await expectNothingLeft(lab, { netns: [call.netns] });
  } finally {
    container.kill("SIGKILL");
  }
});

test("the runtime has no result and nothing runs, or its file is of an earlier ADD: the attachment is undone", async () => {
  await using lab = await makeNodeWithResults();
  const call = await attachedThenCut(lab, 1);
  await keepResult(lab, call, new Date(Date.now() - 3_600_000));
  // A container whose ID ends in the same characters.
  await keepResult(lab, { ...call, containerId: `x${call.containerId}` });
  await lab.startDaemon();
  await lab.startHand();
  await expectNothingLeft(lab, { netns: [call.netns] });
});

test("the commit is lost too, and the runtime has the result: the attachment waits for its DEL", async () => {
  await using lab = await makeNodeWithResults();
  const call = await attachedThenCut(lab, 2);
  await keepResult(lab, call);
  await lab.startDaemon();
  await lab.startHand();
  await lab.until("the daemon says why it waits", () =>
    Promise.resolve(lab.daemonLog.includes("the runtime has its result, and the journal lost it") || undefined),
  );
  expect(await story(lab)).toEqual(addStory);
  expectSuccess(await lab.cni("DEL", call));
  expect(await story(lab)).toEqual([...addStory, ...delStory]);
  await expectNothingLeft(lab, { netns: [call.netns] });
});

async function makeNodeWithResults(): Promise<Lab> {
  const lab = await makeNode();
  await lab.configure({ clusterNetwork: "primary", undoRetryMs: 100, runtimeCniDir: lab.path("cni") });
  await mkdir(lab.path("cni/results"), { recursive: true });
  return lab;
}

/** Attaches a pod, ends the daemon, and takes the last lines out of the journal. */
async function attachedThenCut(lab: Lab, lines: number): Promise<PodCall> {
  await lab.startDaemon();
  const call = podCall(lab, "c1");
  expectSuccess(await lab.cni("ADD", call));
  await lab.killDaemon("SIGTERM");
  const path = join(lab.stateDir, "journal.log");
  const file = await readFile(path);
  let end = file.lastIndexOf("\n");
  for (let line = 0; line < lines; line += 1) {
    const start = file.lastIndexOf("\n", end - 1);
    const kinds = ['"acknowledge"', '"commit"'];
    expect(file.subarray(start, end).toString("latin1")).toContain(kinds[line] ?? "");
    end = start;
  }
  await truncate(path, end + 1);
  return call;
}

/** The file that libcni writes in the runtime when an ADD has succeeded. */
async function keepResult(lab: Lab, call: PodCall, changed = new Date()): Promise<void> {
  const path = lab.path("cni/results", `levee-${call.containerId}-eth0`);
  await writeFile(path, JSON.stringify({ kind: "cniCacheV1", containerId: call.containerId, ifName: "eth0" }));
  await utimes(path, changed, changed);
}

/** A process in the namespace, as the first one of a container. */
async function runIn(netns: string): Promise<ChildProcess> {
  const child = spawn("ip", ["netns", "exec", basename(netns), "sh", "-c", "echo; exec sleep 600"]);
  await new Promise((resolve) => child.stdout.once("data", resolve));
  return child;
}
