import { expect, test } from "bun:test";
import type { ChildProcess } from "node:child_process";
import { readdirSync, readFileSync, readlinkSync, statSync } from "node:fs";
import { join } from "node:path";
import type { Lab } from "../lab/lab.ts";
import {
  addStory,
  attachments,
  delStory,
  eachOf,
  expectSuccess,
  isDead,
  makeNode,
  pause,
  podCall,
  story,
  untilRunning,
} from "./crash-node.ts";
import { expectNothingLeft } from "./nothing-left.ts";

const waiting = "Another daemon holds the state folder";

test("a second daemon on the same state waits and serves nothing, and takes over when the first is killed", async () => {
  await using lab = await makeNode();
  const first = await lab.startDaemon();
  const socket = socketInode(lab);
  const call = podCall(lab, "c1");
  expectSuccess(await lab.cni("ADD", call));

  const second = await launchSecond(lab);
  expect(socketInode(lab)).toBe(socket);
  expectSuccess(await lab.cni("CHECK", call));
  expect(listening(lab)).toEqual([first.pid ?? 0]);

  await killed(first, "SIGKILL");
  await lab.untilReady();
  expect(listening(lab)).toEqual([second.pid ?? 0]);
  expect((await attachments(lab)).map(({ phase }) => phase)).toEqual(["attached"]);
  expectSuccess(await lab.cni("DEL", call));
  await expectNothingLeft(lab, { netns: [call.netns] });
});

test("a daemon that ends in order leaves its successor's socket alone, and both leave no socket with another name", async () => {
  await using lab = await makeNode({ shutdownMs: 600 });
  await lab.script("alpha.ADD", "sleep 1");
  const first = await lab.startDaemon();
  const call = podCall(lab, "c1");
  const adding = lab.cni("ADD", call);
  await untilRunning(lab, "ADD", "alpha");
  const second = await launchSecond(lab);
  await killed(first, "SIGTERM");
  expectSuccess(await adding);
  expect(listening(lab)).toEqual([second.pid ?? 0]);
  expect(readdirSync(lab.socketDir)).toEqual(["levee.sock"]);
  expect(await story(lab)).toEqual(addStory);
  expectSuccess(await lab.cni("DEL", call));
  await expectNothingLeft(lab, { netns: [call.netns] });
});

test("a paused daemon that wakes after its successor has taken the socket path does not remove it", async () => {
  await using lab = await makeNode({ shutdownMs: 0 });
  const first = await lab.startDaemon();
  first.kill("SIGSTOP");
  // Another state folder: the lock does not hold it back, the socket path is the same.
  await lab.configure({ clusterNetwork: "primary", stateDir: lab.path("other-state") });
  const second = lab.launchDaemon();
  const old = socketInode(lab);
  await lab.until("the second one listens", () => Promise.resolve(socketInode(lab) !== old || undefined));
  const taken = socketInode(lab);
  first.kill("SIGTERM");
  first.kill("SIGCONT");
  await lab.until("the first one ends", () => Promise.resolve(isDead(first) || undefined));
  expect(socketInode(lab)).toBe(taken);
  expect(listening(lab)).toEqual([second.pid ?? 0]);
});

test("SIGTERM in the middle of ADDs and DELs: none fails, no ADD runs twice, nothing is lost", async () => {
  await using lab = await makeNode({ shutdownMs: 50, attachCeiling: 4 });
  await lab.script("beta.ADD", "sleep 0.2");
  await lab.script("beta.DEL", "sleep 0.2");
  await lab.startDaemon();
  await lab.startHand();
  const calls = Array.from({ length: 8 }, (_, index) => podCall(lab, `c${index}`));
  const adding = Promise.all(calls.map((call) => lab.cni("ADD", call)));
  await restartTwice(lab, "ADD");
  (await adding).forEach(expectSuccess);
  expect((await attachments(lab)).map(({ phase }) => phase)).toEqual(calls.map(() => "attached"));
  expect((await story(lab)).toSorted()).toEqual(calls.flatMap(() => addStory).toSorted());

  const deleting = Promise.all(calls.map((call) => lab.cni("DEL", call)));
  await restartTwice(lab, "DEL");
  (await deleting).forEach(expectSuccess);
  await expectNothingLeft(lab, { netns: calls.map(({ netns }) => netns) });
  const deletes = await story(lab, "DEL");
  for (const line of delStory)
    expect(deletes.filter((other) => other === line).length).toBeGreaterThanOrEqual(calls.length);
});

test("five daemons at once on one state: one serves at a time, and each takes over when the one before is killed", async () => {
  await using lab = await makeNode();
  const daemons = Array.from({ length: 5 }, () => lab.launchDaemon());
  const call = podCall(lab, "c1");
  for (let left = daemons.length; left > 0; left -= 1) {
    await lab.untilReady();
    expectSuccess(await lab.cni("ADD", call));
    expectSuccess(await lab.cni("DEL", call));
    const serving = daemons.filter((daemon) => listening(lab).includes(daemon.pid ?? 0));
    expect(serving).toHaveLength(1);
    if (left > 1) await eachOf(serving, 1, (daemon) => killed(daemon, "SIGKILL"));
  }
  await expectNothingLeft(lab, { netns: [call.netns] });
  await eachOf(daemons, 5, (daemon) => killed(daemon, "SIGKILL"));
});

async function restartTwice(lab: Lab, command: string): Promise<void> {
  await untilRunning(lab, command, "beta");
  for (let round = 0; round < 2; round += 1) {
    expect(await lab.killDaemon("SIGTERM")).toBe(0);
    await lab.startDaemon();
    await pause(150);
  }
}

async function launchSecond(lab: Lab): Promise<ChildProcess> {
  const second = lab.launchDaemon();
  await lab.until("the second one waits", () => Promise.resolve(lab.daemonLog.includes(waiting) || undefined));
  return second;
}

function killed(daemon: ChildProcess, signal: NodeJS.Signals): Promise<void> {
  return new Promise((resolve) => {
    if (isDead(daemon)) resolve();
    daemon.once("exit", () => resolve());
    daemon.kill(signal);
  });
}

/** The processes that listen in the lab's socket folder: the kernel knows them by the inode of the bound socket. */
function listening(lab: Lab): readonly number[] {
  const lines = readFileSync("/proc/net/unix", "utf8")
    .split("\n")
    .filter((line) => line.includes(`${lab.socketDir}/levee.sock`));
  const bound = new Set(
    lines.filter((line) => line.split(/ +/)[3] === "00010000").map((line) => `socket:[${line.split(/ +/)[6] ?? ""}]`),
  );
  const pids = readdirSync("/proc").filter((name) => /^\d+$/.test(name));
  return pids.filter((pid) => descriptors(pid).some((target) => bound.has(target))).map(Number);
}

function descriptors(pid: string): readonly string[] {
  try {
    return readdirSync(`/proc/${pid}/fd`).map((fd) => readlinkSync(`/proc/${pid}/fd/${fd}`));
  } catch {
    return []; // ended while we looked
  }
}

function socketInode(lab: Lab): number {
  return statSync(join(lab.socketDir, "levee.sock")).ino;
}
