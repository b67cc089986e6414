import { expect, test } from "bun:test";
import { spawnSync } from "node:child_process";
import { mkdir, readdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { encodeLine } from "../../src/state/files/checked-line.ts";
import type { Lab } from "../lab/lab.ts";
import { attachments, leaks, startNode } from "../conformance/node.ts";

/** Work for an earlier attachment must never hit a later one that looks the same. */

/** A DEL is given up after a moment, as if the daemon were away. */
function impatient(lab: Lab): string {
  return lab.shimConf({ delPatienceMs: 1 });
}

async function commandsOf(lab: Lab, containerId: string): Promise<readonly string[]> {
  const calls = await lab.calls();
  return calls.filter((call) => call.containerId === containerId).map((call) => call.command);
}

test("a DEL from before the daemon started does not hit an ADD of the same container that comes after it", async () => {
  await using lab = await startNode();
  await lab.killDaemon();
  // So many that reading them takes longer than accepting a call.
  const others = Array.from({ length: 60 }, (_, index) => `other${index}`);
  await Promise.all(others.map((containerId) => lab.cni("DEL", { containerId, conf: impatient(lab) })));
  const calls = Array.from({ length: 6 }, (_, index) => ({
    containerId: `same${index}`,
    netns: lab.netns(`n${index}`),
  }));
  for (const { containerId } of calls) await lab.cni("DEL", { containerId, conf: impatient(lab) });
  const adds = calls.map((call) => lab.cni("ADD", call));
  await lab.startDaemon();
  await lab.startHand();
  for (const outcome of await Promise.all(adds)) expect(outcome.exitCode).toBe(0);
  await lab.until("no delete is left", async () =>
    (await readdir(join(lab.stateDir, "offline"))).length === 0 ? true : undefined,
  );
  expect(await attachments(lab)).toHaveLength(calls.length);
  for (const { containerId } of calls) expect(await commandsOf(lab, containerId)).toEqual(["ADD"]);
});

test("an ADD of a container whose DEL was made while the daemon was away carries that out first", async () => {
  await using lab = await startNode();
  const call = { containerId: "again", netns: lab.netns("a") };
  expect((await lab.cni("ADD", call)).exitCode).toBe(0);
  await lab.killDaemon();
  expect((await lab.cni("DEL", { ...call, conf: impatient(lab) })).exitCode).toBe(0);
  const add = lab.cni("ADD", call);
  await lab.startDaemon();
  expect((await add).exitCode).toBe(0);
  expect(await commandsOf(lab, "again")).toEqual(["ADD", "DEL", "ADD"]);
  expect(await readdir(join(lab.stateDir, "offline"))).toEqual([]);
  expect(await attachments(lab)).toHaveLength(1);
});

test("a DEL cancels an ADD that waits for another container's delete, and does not overtake it", async () => {
  await using lab = await startNode();
  const [first, second] = [
    { containerId: "x1", netns: lab.netns("x") },
    { containerId: "y1", netns: lab.netns("y") },
  ];
  expect((await lab.cni("ADD", first)).exitCode).toBe(0);
  await lab.killDaemon();
  await lab.cni("DEL", { ...first, conf: impatient(lab) });
  await lab.script("first.DEL", `[ "$CNI_CONTAINERID" != x1 ] || while [ ! -e "$control/go" ]; do sleep 0.02; done`);
  await lab.startDaemon();
  await lab.startHand();
  await lab.until("the delete runs", async () => ((await commandsOf(lab, "x1")).includes("DEL") ? true : undefined));
  const add = lab.cni("ADD", second);
  // Beside the hand.
  await lab.untilConnected(2);
  expect((await lab.cni("DEL", second)).exitCode).toBe(0);
  expect(JSON.parse((await add).stdout)).toMatchObject({ code: 11 });
  await writeFile(lab.path("control/go"), "");
  await lab.until("nothing is attached", async () => ((await attachments(lab)).length === 0 ? true : undefined));
  expect(await commandsOf(lab, "y1")).toEqual([]);
});

test("a leak is not retried while the same interface of the same container is attached again", async () => {
  await using lab = await startNode({ withHand: true });
  const call = { containerId: "leaky", netns: lab.netns("a") };
  await lab.script("first.ADD", "exit 1");
  await lab.script("first.DEL", "exit 1");
  expect((await lab.cni("ADD", call)).exitCode).toBe(1);
  expect(await leaks(lab)).toHaveLength(1);
  await lab.unscript("first.ADD");
  await lab.unscript("first.DEL");
  expect((await lab.cni("ADD", call)).exitCode).toBe(0);
  await makeLeaksDue(lab);
  await lab.forgetCalls();
  await lab.startDaemon();
  await lab.startHand();
  await Bun.sleep(1_000);
  expect(await lab.calls()).toEqual([]);
  expect((await attachments(lab)).map(({ phase }) => phase)).toEqual(["attached"]);
  // The attachment's own DEL undoes both.
  expect((await lab.cni("DEL", call)).exitCode).toBe(0);
  await lab.until("the leak is crossed out", async () => ((await leaks(lab)).length === 0 ? true : undefined));
});

test("an offline record that cannot even be put aside keeps neither the daemon nor the other records from going on", async () => {
  await using lab = await startNode();
  const call = { containerId: "good", netns: lab.netns("a") };
  expect((await lab.cni("ADD", call)).exitCode).toBe(0);
  await lab.killDaemon();
  await lab.cni("DEL", { ...call, conf: impatient(lab) });
  const [offline, quarantine] = [join(lab.stateDir, "offline"), join(lab.stateDir, "quarantine")];
  await writeFile(join(offline, "a:eth0.del"), "garbage");
  await mkdir(quarantine, { recursive: true });
  // A file system without room for a single file.
  expect(spawnSync("mount", ["-t", "tmpfs", "-o", "size=4k,nr_inodes=1", "tmpfs", quarantine]).status).toBe(0);
  try {
    await lab.startDaemon();
    await lab.startHand();
    await lab.until("the good one is carried out", async () =>
      (await attachments(lab)).length === 0 ? true : undefined,
    );
    expect(await readdir(offline)).toEqual(["a:eth0.del"]);
  } finally {
    spawnSync("umount", ["-l", quarantine]);
  }
});

/** Stops the daemon and the hand and lets every leak in the journal be due, which would take half a minute otherwise. */
async function makeLeaksDue(lab: Lab): Promise<void> {
  await lab.killHand();
  await lab.killDaemon();
  const path = join(lab.stateDir, "journal.log");
  const lines = (await Bun.file(path).text()).split("\n").filter((line) => line !== "");
  const due = lines.map((line) => {
    return encodeLine("L", line.slice(line.indexOf("{")).replace(/"nextTryWallMs":\d+/g, '"nextTryWallMs":1'));
  });
  await writeFile(path, due.join(""));
}
