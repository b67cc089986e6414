import { expect, test } from "bun:test";
import { existsSync } from "node:fs";
import { readdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Lab } from "../lab/lab.ts";
import {
  addStory,
  attachments,
  delStory,
  eachOf,
  errorOf,
  expectSuccess,
  isDead,
  longResult,
  makeNode,
  pause,
  podCall,
  startFragile,
  story,
  unreadPipe,
  untilPhase,
  untilRunning,
  type PodCall,
} from "./crash-node.ts";
import { expectNothingLeft } from "./nothing-left.ts";

test("DEL without a daemon: success, a durable record, carried out once when the daemon is back", async () => {
  await using lab = await makeNode();
  const call = await attachedThenAway(lab);
  expectSuccess(await lab.cni("DEL", impatient(lab, call)));
  expect(await offline(lab)).toEqual(["c1:eth0.del"]);
  // The same DEL again takes the same place.
  expectSuccess(await lab.cni("DEL", impatient(lab, call)));
  expect(await offline(lab)).toEqual(["c1:eth0.del"]);
  await lab.startDaemon();
  await lab.startHand();
  await expectNothingLeft(lab, { netns: [call.netns] });
  expect(await story(lab, "DEL")).toEqual(delStory);
});

test("DEL without a daemon, and the namespace is gone by the time it is back: the plugins get no namespace", async () => {
  await using lab = await makeNode();
  const call = await attachedThenAway(lab);
  expectSuccess(await lab.cni("DEL", impatient(lab, call)));
  lab.deleteNetns(call.netns);
  await lab.startDaemon();
  await lab.startHand();
  await expectNothingLeft(lab);
  const deletes = (await lab.calls()).filter(({ command }) => command === "DEL");
  expect(deletes.map(({ env }) => env["CNI_NETNS"])).toEqual(["", "", ""]);
});

test("DEL of an unknown container without a daemon: the record is dropped when the daemon is back", async () => {
  await using lab = await makeNode();
  await lab.startDaemon();
  await lab.killDaemon();
  const call = podCall(lab, "unknown");
  expectSuccess(await lab.cni("DEL", impatient(lab, call)));
  await lab.startDaemon();
  await lab.startHand();
  await expectNothingLeft(lab, { netns: [call.netns] });
  expect(await story(lab)).toEqual([]);
});

test("an ADD of the same pod waits for the delete that was made without a daemon, with a hand and without one", async () => {
  await eachOf([true, false], 2, async (withHand) => {
    await using lab = await makeNode();
    const call = await attachedThenAway(lab);
    expectSuccess(await lab.cni("DEL", impatient(lab, call)));
    lab.deleteNetns(call.netns);
    await lab.script("alpha.DEL", "sleep 0.3");
    await lab.startDaemon();
    if (withHand) await lab.startHand();
    const next = podCall(lab, "c2");
    expectSuccess(await lab.cni("ADD", next));
    expect(await story(lab)).toEqual([...addStory, ...delStory, ...addStory]);
    expectSuccess(await lab.cni("DEL", next));
    await expectNothingLeft(lab, { netns: [next.netns] });
  });
});

test("an ADD of the same pod is told to come back later while the old namespace lives and no hand may enter it", async () => {
  await using lab = await makeNode({ addLookupMs: 300 });
  const call = await attachedThenAway(lab);
  expectSuccess(await lab.cni("DEL", impatient(lab, call)));
  await lab.startDaemon();
  const next = podCall(lab, "c2");
  expect(errorOf(await lab.cni("ADD", next))).toMatchObject({
    code: 11,
    msg: expect.stringContaining("earlier sandbox"),
  });
  await lab.startHand();
  // The hand may need longer than one ADD waits: the runtime comes back, as it was told to.
  await lab.until("the ADD gets in", async () => {
    const outcome = await lab.cni("ADD", next);
    if (outcome.exitCode === 0) return true;
    expect(errorOf(outcome).code).toBe(11);
    return undefined;
  });
  expectSuccess(await lab.cni("DEL", next));
  await expectNothingLeft(lab, { netns: [call.netns, next.netns] });
});

test("the daemon is killed after the result was handed over: the shim's note keeps the attachment", async () => {
  await using lab = await makeNode();
  // begin, three steps, commit, acknowledge: the last one is written, but the shim does not hear of it.
  const daemon = await startFragile(lab, 6);
  const call = podCall(lab, "c1");
  expectSuccess(await lab.cni("ADD", call));
  await lab.until("the daemon is dead", () => Promise.resolve(isDead(daemon) || undefined));
  expect((await offline(lab)).map((name) => name.replace(/^[0-9a-f]{32}/, "token"))).toEqual(["token.ack"]);
  await lab.startDaemon();
  await lab.startHand();
  await expectStays(lab);
  expectSuccess(await lab.cni("DEL", call));
  await expectNothingLeft(lab, { netns: [call.netns] });
});

test("the daemon is killed between FINISH and ACK: the note on disk is the acknowledgement, and the attachment stays", async () => {
  await using lab = await makeNode();
  const daemon = await lab.startDaemon();
  // The daemon stands still while the shim, which has its result, is stuck in writing it.
  await lab.answer("beta.ADD", longResult());
  const call = podCall(lab, "c1");
  const pipe = unreadPipe(lab);
  const shim = lab.start("ADD", { ...call, prefix: pipe.prefix });
  await pipe.untilWritten();
  daemon.kill("SIGSTOP");
  pipe.read();
  await pause(300);
  daemon.kill("SIGKILL");
  expectSuccess(await shim.outcome);
  expect(await offline(lab)).toHaveLength(1);
  await lab.startDaemon();
  await lab.startHand();
  await expectStays(lab);
  expectSuccess(await lab.cni("DEL", call));
  await expectNothingLeft(lab, { netns: [call.netns] });
});

test("a failed ADD leaves no note, also when the daemon is killed before it says goodbye", async () => {
  await using lab = await makeNode();
  await lab.script("gamma.ADD", "exit 1");
  const daemon = await lab.startDaemon();
  const call = podCall(lab, "c1");
  const adding = lab.cni("ADD", call);
  await untilRunning(lab, "DEL", "alpha");
  await pause(20);
  daemon.kill("SIGKILL");
  await lab.until("the daemon is dead", () => Promise.resolve(isDead(daemon) || undefined));
  await lab.startDaemon();
  expect((await adding).exitCode).toBe(1);
  expect(await offline(lab)).toEqual([]);
  await expectNothingLeft(lab, { netns: [call.netns] });
});

test("STATUS without a daemon is success at once; ADD is told to come back later when its budget ends; CHECK too", async () => {
  await using lab = await makeNode();
  const call = podCall(lab, "c1", { conf: lab.shimConf({ addBudgetMs: 600 }) });
  const beganMs = performance.now();
  expectSuccess(await lab.cni("STATUS", { containerId: "" }));
  expect(performance.now() - beganMs).toBeLessThan(3_500);
  expect(errorOf(await lab.cni("ADD", call))).toMatchObject({
    code: 11,
    msg: expect.stringContaining("Cannot reach the daemon"),
  });
  expect(errorOf(await lab.cni("CHECK", call)).code).toBe(11);
  expect(await story(lab)).toEqual([]);
});

test("the daemon is gone for good in the middle of a chain: the shim undoes its own steps in reverse, and a later daemon does no harm", async () => {
  await eachOf([true, false], 2, async (isHanging) => {
    await using lab = await makeNode({ addUndoMs: 1_000 });
    await lab.script("beta.ADD", isHanging ? "sleep 60" : "sleep 0.3");
    await lab.startDaemon();
    const call = podCall(lab, "c1", { conf: lab.shimConf({ addBudgetMs: 3_000 }) });
    const adding = lab.cni("ADD", call);
    await untilRunning(lab, "ADD", "beta");
    await lab.killDaemon();
    const error = errorOf(await adding);
    expect(error).toMatchObject({ code: 11, details: expect.stringContaining("Undid 2 of 2 runs") });
    expect(await story(lab)).toEqual(["ADD alpha eth0", "ADD beta eth0", "DEL beta eth0", "DEL alpha eth0"]);
    await lab.startDaemon();
    await lab.startHand();
    await expectNothingLeft(lab, { netns: [call.netns] });
    expectSuccess(await lab.cni("DEL", call));
    await expectNothingLeft(lab, { netns: [call.netns] });
  });
});

test("a DEL whose turn does not come is made durable and answered with success, and carried out", async () => {
  await using lab = await makeNode({ delQueueMs: 300, detachCeiling: 1, clusterNetwork: "plain" });
  // Plugins that clean up without the namespace; the others' DELs are not promised.
  await lab.plugin("bridge");
  await lab.network("plain", { cniVersion: "1.1.0", name: "plain", ...lab.conf("bridge") }, "kube-system");
  await lab.pod("plain", {});
  await lab.startDaemon();
  await lab.startHand();
  const calls = ["c1", "c2"].map((name) => podCall(lab, name, { args: lab.podArgs("plain") }));
  for (const call of calls) expectSuccess(await lab.cni("ADD", call));
  await lab.script("bridge.DEL", "[ $CNI_CONTAINERID != c1 ] || sleep 1");
  const deletes = calls.map(async (call, index) => {
    await pause(index * 200);
    return lab.cni("DEL", call);
  });
  (await Promise.all(deletes)).forEach(expectSuccess);
  await expectNothingLeft(lab, { netns: calls.map(({ netns }) => netns) });
  expect(await story(lab, "DEL")).toEqual(["DEL bridge eth0", "DEL bridge eth0"]);
});

test("a DEL that can be made neither by the daemon nor durable is an error", async () => {
  await using lab = await makeNode();
  const call = await attachedThenAway(lab);
  await writeFile(lab.path("file"), "");
  const conf = lab.shimConf({ delPatienceMs: 50, stateDir: lab.path("file") });
  expect(errorOf(await lab.cni("DEL", { ...call, conf })).msg).toContain("Cannot keep the record");
  await lab.startDaemon();
  expectSuccess(await lab.cni("DEL", call));
  await expectNothingLeft(lab, { netns: [call.netns] });
});

test("damaged notes in the offline folder are put aside, and the good one beside them is carried out", async () => {
  await using lab = await makeNode();
  const call = await attachedThenAway(lab);
  expectSuccess(await lab.cni("DEL", impatient(lab, call)));
  await writeFile(join(lab.stateDir, "offline", "bad:eth0.del"), "no frames");
  await writeFile(join(lab.stateDir, "offline", `${"a".repeat(32)}.ack`), "");
  await lab.startDaemon();
  await lab.startHand();
  await lab.until("the good one is carried out", async () =>
    (await attachments(lab)).length === 0 && !existsSync(join(lab.stateDir, "offline", "c1:eth0.del"))
      ? true
      : undefined,
  );
  expect(await offline(lab)).toEqual([]);
  expect((await readdir(join(lab.stateDir, "quarantine"))).length).toBeGreaterThanOrEqual(2);
  expect(await story(lab, "DEL")).toEqual(delStory);
});

async function attachedThenAway(lab: Lab): Promise<PodCall> {
  await lab.startDaemon();
  const call = podCall(lab, "c1");
  expectSuccess(await lab.cni("ADD", call));
  await lab.killDaemon();
  return call;
}

/** The call by a shim that does not wait long for the daemon. */
function impatient(lab: Lab, call: PodCall): PodCall {
  return { ...call, conf: lab.shimConf({ delPatienceMs: 50 }) };
}

async function offline(lab: Lab): Promise<readonly string[]> {
  return (await readdir(join(lab.stateDir, "offline"))).toSorted();
}

/** The attachment is there, and stays although recovery has looked at it. */
async function expectStays(lab: Lab): Promise<void> {
  await untilPhase(lab, "attached");
  await pause(400);
  expect((await attachments(lab)).map(({ phase }) => phase)).toEqual(["attached"]);
  expect(await story(lab)).toEqual(addStory);
  expect(await offline(lab)).toEqual([]);
}
