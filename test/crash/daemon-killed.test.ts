import { expect, test } from "bun:test";
import type { ChildProcess } from "node:child_process";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import type { Lab } from "../lab/lab.ts";
import { filesIn } from "../lab/leftovers.ts";
import {
  addStory,
  attachments,
  delStory,
  eachOf,
  errorOf,
  expectSuccess,
  interfacesOf,
  isDead,
  makeNode,
  pause,
  podCall,
  startFragile,
  story,
  untilPhase,
  type PodCall,
} from "./crash-node.ts";
import { expectNothingLeft } from "./nothing-left.ts";

/** Cases at a time: each waits for jitter most of the time. */
const atOnce = 4;

test("ADD: the daemon is killed after each of its journal writes, and the same call still succeeds, each plugin run once", async () => {
  const writes = await countWrites(async (lab) => expectSuccess(await lab.cni("ADD", podCall(lab, "count"))));
  // begin, alpha, beta, gamma, commit, acknowledge; a chain that edits routes has one more.
  expect(writes).toBe(6);
  await eachOf(numbers(writes), atOnce, async (write) => {
    await using lab = await makeNode();
    const daemon = await startFragile(lab, write);
    const call = podCall(lab, `add${write}`);
    const outcome = await throughDeath(lab, daemon, () => lab.cni("ADD", call));
    expectSuccess(outcome);
    expect(interfacesOf(outcome)).toEqual(["eth0"]);
    expect(await story(lab)).toEqual(addStory);
    // The last kill is after the acknowledgement: the shim's own note is read then, and changes nothing.
    await untilPhase(lab, "attached");
    await expectMirror(lab, call.containerId);
    expectSuccess(await lab.cni("DEL", call));
    expect(await story(lab, "DEL")).toEqual(delStory);
    await expectNothingLeft(lab, { netns: [call.netns] });
  });
});

test("ADD that fails: the daemon is killed after each journal write, the error is the plugin's own and everything is undone", async () => {
  const writes = await countWrites(async (lab) => {
    await failing(lab, "gamma.ADD");
    errorOf(await lab.cni("ADD", podCall(lab, "count")));
  });
  // begin, alpha, beta, undoing, removed.
  expect(writes).toBe(5);
  await eachOf(numbers(writes), atOnce, async (write) => {
    await using lab = await makeNode();
    await failing(lab, "gamma.ADD");
    const daemon = await startFragile(lab, write);
    const call = podCall(lab, `fail${write}`);
    const outcome = await throughDeath(lab, daemon, () => lab.cni("ADD", call));
    expect(errorOf(outcome)).toMatchObject({ code: 142, msg: expect.stringContaining("gamma says no") });
    // Undone before the runtime hears of it.
    expect(await attachments(lab)).toEqual([]);
    await expectNothingLeft(lab, { netns: [call.netns] });
    expectSuccess(await lab.cni("DEL", call));
    await expectNothingLeft(lab, { netns: [call.netns] });
  });
});

test("DEL: the daemon is killed after its journal write, and the same call succeeds", async () => {
  await eachOf([1, 2], atOnce, async (write) => {
    await using lab = await makeNode();
    const call = await attached(lab, `del${write}`);
    const daemon = await lab.startDaemon({ LEVEE_FAULT: `journal-write:${write}` });
    expectSuccess(await throughDeath(lab, write === 1 ? daemon : undefined, () => lab.cni("DEL", call)));
    expect(await story(lab, "DEL")).toEqual(delStory);
    await expectNothingLeft(lab, { netns: [call.netns] });
  });
});

test("DEL that fails twice: the daemon is killed after each journal write, and the DEL ends in success", async () => {
  // del-failed, del-failed, removed.
  await eachOf([1, 2, 3, 4], atOnce, async (write) => {
    await using lab = await makeNode({ delAttemptsMax: 9 });
    const call = await attached(lab, `dfail${write}`);
    await lab.script(
      "beta.DEL",
      `n=$(cat ${lab.path("tries")} 2>/dev/null || echo 0); echo $((n + 1)) >${lab.path("tries")}; [ "$n" -ge 2 ] || exit 1`,
    );
    const daemon = await lab.startDaemon({ LEVEE_FAULT: `journal-write:${write}` });
    await throughDeath(lab, write <= 3 ? daemon : undefined, () => untilDeleted(lab, call));
    await expectNothingLeft(lab, { netns: [call.netns] });
    expect(await story(lab, "DEL")).toContain("DEL alpha eth0");
  });
});

test("DEL that fails for good: killed after each journal write, the chain ends in the leak ledger once, and no DEL is refused for ever", async () => {
  // leak, removed.
  await eachOf([1, 2, 3], atOnce, async (write) => {
    await using lab = await makeNode({ delAttemptsMax: 1 });
    const call = await attached(lab, `leak${write}`);
    await lab.script("gamma.DEL", "exit 1");
    const daemon = await lab.startDaemon({ LEVEE_FAULT: `journal-write:${write}` });
    expectSuccess(await throughDeath(lab, write <= 2 ? daemon : undefined, () => untilDeleted(lab, call)));
    expect(await attachments(lab)).toEqual([]);
    const { leaks } = await lab.ask<{ leaks: readonly { network: string; containerId: string }[] }>({ ask: "leaks" });
    expect(leaks.map((leak) => leak.network)).toEqual(["default/second"]);
  });
});

/** Makes the call, and where the daemon is to die, starts the next one a moment after its death. */
async function throughDeath<T>(lab: Lab, dying: ChildProcess | undefined, make: () => Promise<T>): Promise<T> {
  const outcome = make();
  if (dying !== undefined) {
    await lab.until("the daemon is killed", () => Promise.resolve(isDead(dying) || undefined));
    await pause(100 + Math.random() * 200);
    await lab.startDaemon();
  }
  return outcome;
}

async function attached(lab: Lab, containerId: string): Promise<PodCall> {
  await lab.startDaemon();
  const call = podCall(lab, containerId);
  expectSuccess(await lab.cni("ADD", call));
  await lab.killDaemon("SIGTERM");
  return call;
}

/** A runtime that repeats a failed DEL, as kubelet does. */
async function untilDeleted(lab: Lab, call: PodCall): Promise<Awaited<ReturnType<Lab["cni"]>>> {
  for (let attempt = 1; ; attempt += 1) {
    const outcome = await lab.cni("DEL", call);
    if (outcome.exitCode === 0 || attempt === 6) return outcome;
  }
}

async function failing(lab: Lab, key: string): Promise<void> {
  await lab.script(key, `echo '{"cniVersion":"1.0.0","code":142,"msg":"gamma says no"}'; exit 1`);
}

/** Multus' scratch file and one result per network: what going back to Multus needs. */
async function expectMirror(lab: Lab, containerId: string): Promise<void> {
  const own = async (): Promise<readonly string[]> =>
    (await filesIn(lab.cniDir)).filter((file) => file.includes(containerId) && !file.endsWith(".tmp"));
  // The answer does not wait for these files, so they may come a moment later.
  await lab.until("Multus' files are there", async () => ((await own()).length === 3 ? true : undefined));
}

/** How many records a call writes, found by making it once. */
async function countWrites(make: (lab: Lab) => Promise<void>): Promise<number> {
  await using lab = await makeNode();
  await lab.startDaemon();
  const before = await journalLines(lab);
  await make(lab);
  return (await journalLines(lab)) - before;
}

async function journalLines(lab: Lab): Promise<number> {
  return (await readFile(join(lab.stateDir, "journal.log"), "utf8")).split("\n").length;
}

function numbers(count: number): readonly number[] {
  return Array.from({ length: count }, (_, index) => index + 1);
}
