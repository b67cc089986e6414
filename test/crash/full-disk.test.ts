import { expect, test } from "bun:test";
import { spawnSync } from "node:child_process";
import { mkdirSync } from "node:fs";
import { writeFile } from "node:fs/promises";
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
  makeNode,
  pause,
  podCall,
  story,
  untilRunning,
} from "./crash-node.ts";
import { expectNothingLeft } from "./nothing-left.ts";

const stateUnwritable = 109;
/** Longer than a block, so that it does not fit behind what is written already. */
const longResult = JSON.stringify({
  cniVersion: "1.0.0",
  dns: { search: Array.from({ length: 500 }, (_, index) => `d${index}.example`) },
});

test("the state folder fills up in the middle of an ADD: the ADD is undone and says why; with room again all is well", async () => {
  // In the last case it is the commit, with the results of all chains, for which there is no room.
  const cases = [{ plugin: "alpha" }, { plugin: "beta" }, { plugin: "gamma" }, { plugin: "gamma", long: "beta.ADD" }];
  await eachOf(cases, 4, async ({ plugin, long = "ADD" }) => {
    await using lab = await makeNode();
    using _mount = smallState(lab);
    await lab.script(`${plugin}.ADD`, fillUp(lab));
    await lab.answer(long, longResult);
    await lab.startDaemon();
    const call = podCall(lab, "c1");
    expect(errorOf(await lab.cni("ADD", call))).toMatchObject({
      code: stateUnwritable,
      msg: expect.stringContaining("ENOSPC"),
    });
    expect(await attachments(lab)).toEqual([]);
    expect((await story(lab, "DEL")).at(0)).toBe(`DEL ${plugin} ${plugin === "gamma" ? "net1" : "eth0"}`);

    // Still full: refused before anything is done.
    await lab.unscript(`${plugin}.ADD`);
    const before = (await story(lab)).length;
    expect(errorOf(await lab.cni("ADD", call)).code).toBe(stateUnwritable);
    expect(await story(lab)).toHaveLength(before);
    expectSuccess(await lab.cni("DEL", call));

    makeRoom(lab);
    expectSuccess(await lab.cni("ADD", call));
    expectSuccess(await lab.cni("DEL", call));
    await expectNothingLeft(lab, { netns: [call.netns] });
  });
});

test("a full state folder: deletes still work, also after a restart and for many pods, and without a daemon a DEL that cannot be kept is an error", async () => {
  await using lab = await makeNode();
  using _mount = smallState(lab);
  await lab.startDaemon();
  const calls = Array.from({ length: 12 }, (_, index) => podCall(lab, `c${index}`));
  for (const call of calls) expectSuccess(await lab.cni("ADD", call));
  spawnSync("sh", ["-c", fillUp(lab)]);
  for (const call of calls.slice(0, 4)) expectSuccess(await lab.cni("DEL", call));
  await lab.killDaemon();
  const [, , , , fifth = calls[0]] = calls;
  if (fifth === undefined) throw new Error("there are twelve");
  const offline = await lab.cni("DEL", { ...fifth, conf: lab.shimConf({ delPatienceMs: 50 }) });
  // Either it found a block for its record, or it says that it did not: never a success with nothing behind it.
  if (offline.exitCode !== 0) expect(errorOf(offline).msg).toContain("Cannot keep the record");
  await lab.startDaemon();
  expect((await attachments(lab)).length).toBeLessThanOrEqual(8);
  (await Promise.all(calls.slice(4).map((call) => lab.cni("DEL", call)))).forEach(expectSuccess);
  expect(await attachments(lab)).toEqual([]);
  makeRoom(lab);
  const after = podCall(lab, "after");
  expectSuccess(await lab.cni("ADD", after));
  expectSuccess(await lab.cni("DEL", after));
  await expectNothingLeft(lab, { netns: [...calls, after].map(({ netns }) => netns) });
});

test("the daemon is killed while an ADD is undone on a full disk: the next daemon finishes the undo", async () => {
  await using lab = await makeNode();
  using _mount = smallState(lab);
  await lab.script("beta.ADD", fillUp(lab));
  await lab.answer("ADD", longResult);
  await lab.script("alpha.DEL", `[ -e ${lab.path("once")} ] || { : >${lab.path("once")}; sleep 0.5; }`);
  await lab.startDaemon();
  const call = podCall(lab, "c1");
  const adding = lab.cni("ADD", call);
  await untilRunning(lab, "DEL", "alpha");
  await lab.killDaemon();
  await pause(100);
  await lab.startDaemon();
  expect((await adding).exitCode).toBe(1);
  expect(await attachments(lab)).toEqual([]);
  makeRoom(lab);
  await expectNothingLeft(lab, { netns: [call.netns] });
});

test("a read-only state folder: the daemon says so and ends, STATUS succeeds, nothing else is begun, and with it writable again all is well", async () => {
  await using lab = await makeNode();
  using _mount = smallState(lab);
  await lab.startDaemon();
  const attached = podCall(lab, "attached");
  expectSuccess(await lab.cni("ADD", attached));
  await lab.killDaemon();
  remount(lab, "ro");
  const daemon = lab.launchDaemon();
  await lab.until("the daemon ends", () => Promise.resolve(isDead(daemon) || undefined));
  expect(daemon.exitCode).toBe(1);
  expect(lab.daemonLog).toContain(`Cannot write ${lab.stateDir}`);
  expectSuccess(await lab.cni("STATUS", { containerId: "" }));
  const refused = podCall(lab, "refused", { conf: lab.shimConf({ addBudgetMs: 400, delPatienceMs: 50 }) });
  expect(errorOf(await lab.cni("ADD", refused)).code).toBe(11);
  expect(errorOf(await lab.cni("DEL", refused)).msg).toContain("Cannot keep the record");
  expect(await story(lab)).toEqual(addStory);
  remount(lab, "rw");
  await lab.startDaemon();
  expectSuccess(await lab.cni("DEL", attached));
  expectSuccess(await lab.cni("DEL", refused));
  await expectNothingLeft(lab, { netns: [attached.netns, refused.netns] });
});

test("Multus' folder cannot be written: the attachment does not depend on it", async () => {
  await using lab = await makeNode();
  await writeFile(lab.cniDir, "a file where a folder should be");
  await lab.startDaemon();
  const call = podCall(lab, "c1");
  expectSuccess(await lab.cni("ADD", call));
  expectSuccess(await lab.cni("DEL", call));
  expect(await story(lab)).toEqual([...addStory, ...delStory]);
  await expectNothingLeft(lab, { netns: [call.netns] });
});

/**
 * Puts the state folder on a file system of its own, of 300 KiB: too small for the room that the journal makes for
 * lines to come, with which it would fill up much later.
 */
function smallState(lab: Lab): Disposable {
  mkdirSync(lab.stateDir, { mode: 0o700 });
  mount(["-t", "tmpfs", "-o", "size=300k,mode=0700", "levee-test", lab.stateDir]);
  return { [Symbol.dispose]: () => void spawnSync("umount", ["-l", lab.stateDir]) };
}

function remount(lab: Lab, how: "ro" | "rw"): void {
  mount(["-o", `remount,${how}`, lab.stateDir]);
}

function mount(args: readonly string[]): void {
  const { status, stderr } = spawnSync("mount", args, { encoding: "utf8" });
  if (status !== 0) throw new Error(`mount ${args.join(" ")} failed: ${stderr}`);
}

/** Shell lines that take every block of the state folder that is left. */
function fillUp(lab: Lab): string {
  return `dd if=/dev/zero of=${join(lab.stateDir, "fill")} bs=4k 2>/dev/null >/dev/null; true`;
}

function makeRoom(lab: Lab): void {
  spawnSync("rm", ["-f", join(lab.stateDir, "fill")]);
}
