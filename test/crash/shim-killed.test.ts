import { expect, test } from "bun:test";
import { existsSync } from "node:fs";
import { readdir, readFile } from "node:fs/promises";
import type { Lab } from "../lab/lab.ts";
import {
  attachments,
  eachOf,
  expectSuccess,
  longResult,
  makeNode,
  pause,
  podCall,
  story,
  unreadPipe,
  untilPhase,
  untilRunning,
  type PodCall,
} from "./crash-node.ts";
import { expectNothingLeft, pluginProcesses } from "./nothing-left.ts";

const hang = "sleep 60";
/** Hangs the first time, and does its work the second time. */
function hangOnce(lab: Lab): string {
  return `[ -e ${lab.path("once")} ] || { : >${lab.path("once")}; sleep 60; }`;
}

/** A plugin whose child ignores polite signals, and writes the time down for as long as it lives. */
function stubborn(lab: Lab): string {
  return `(trap '' TERM INT HUP PIPE; while :; do date +%s%N >${lab.path("beat")}; sleep 0.01; done) >/dev/null 2>&1 </dev/null & sleep 60`;
}

test("killed while it waits for a permit: nothing was begun, nothing is left", async () => {
  await using lab = await makeNode({ attachCeiling: 1 });
  await lab.startDaemon();
  await lab.script("alpha.ADD", "[ $CNI_CONTAINERID != first ] || sleep 1");
  const first = podCall(lab, "first");
  const running = lab.cni("ADD", first);
  await untilRunning(lab, "ADD", "alpha");
  const second = podCall(lab, "second");
  const waiting = lab.start("ADD", second);
  await lab.until("it waits", async () =>
    (await lab.ask<{ waiting: number }>({ ask: "node" })).waiting === 1 ? true : undefined,
  );
  waiting.process.kill("SIGKILL");
  expect((await waiting.outcome).signal).toBe("SIGKILL");
  expectSuccess(await running);
  expect((await lab.calls()).filter((call) => call.containerId === "second")).toEqual([]);
  expectSuccess(await lab.cni("DEL", second));
  expectSuccess(await lab.cni("DEL", first));
  await expectNothingLeft(lab, { netns: [first.netns, second.netns] });
});

test("killed during each plugin of ADD: with a resident hand everything is undone at once, without one by the DEL", async () => {
  const cases = ["alpha", "beta", "gamma"].flatMap((plugin) => [
    { plugin, withHand: true },
    { plugin, withHand: false },
  ]);
  await eachOf(cases, 3, async ({ plugin, withHand }) => {
    await using lab = await makeNode();
    await lab.script(`${plugin}.ADD`, hang);
    await lab.startDaemon();
    if (withHand) await lab.startHand();
    const call = podCall(lab, "c1");
    await killDuring(lab, call, "ADD", plugin);
    if (!withHand) {
      await untilPhase(lab, "lost");
      expect(await story(lab, "DEL")).toEqual([]);
      expectSuccess(await lab.cni("DEL", call));
    }
    await expectNothingLeft(lab, { netns: [call.netns] });
    expect((await story(lab, "DEL"))[0]).toBe(`DEL ${plugin} ${plugin === "gamma" ? "net1" : "eth0"}`);
    // The next sandbox of the pod has nothing to wait for.
    await lab.unscript(`${plugin}.ADD`);
    const next = podCall(lab, "c2");
    expectSuccess(await lab.cni("ADD", next));
    expectSuccess(await lab.cni("DEL", next));
    await expectNothingLeft(lab, { netns: [next.netns] });
  });
});

test("undo waits until the whole session is gone: no beat of a plugin's stubborn grandchild comes after the first DEL has begun", async () => {
  await eachOf([true, false], 2, async (withHand) => {
    await using lab = await makeNode();
    await lab.script("beta.ADD", stubborn(lab));
    await lab.startDaemon();
    if (withHand) await lab.startHand();
    const call = podCall(lab, "c1");
    const shim = lab.start("ADD", call);
    await untilThere(lab, "beat");
    shim.process.kill("SIGKILL");
    await shim.outcome;
    if (!withHand) expectSuccess(await lab.cni("DEL", call));
    await lab.until("it is undone", async () => ((await attachments(lab)).length === 0 ? true : undefined));
    const last = BigInt((await readFile(lab.path("beat"), "utf8")).trim());
    expect(last < (await beginOf(lab, "DEL"))).toBe(true);
    await expectNothingLeft(lab, { netns: [call.netns] });
  });
});

test("killed between steps: what ran is undone, what did not run is not", async () => {
  await using lab = await makeNode();
  await lab.startDaemon();
  await lab.startHand();
  // The plugin kills its shim as its very last act, so that the outcome is lost with it.
  await lab.script("beta.ADD", "kill -KILL $PPID; sleep 5");
  const call = podCall(lab, "c1");
  expect((await lab.cni("ADD", call)).signal).toBe("SIGKILL");
  await expectNothingLeft(lab, { netns: [call.netns] });
  expect(await story(lab)).toEqual(["ADD alpha eth0", "ADD beta eth0", "DEL beta eth0", "DEL alpha eth0"]);
});

test("killed after its result was ready but before it could be written: the attachment is undone", async () => {
  await eachOf([true, false], 2, async (withHand) => {
    await using lab = await makeNode();
    // More than a pipe holds, so that the shim is stuck in its write until a reader comes.
    await lab.answer("beta.ADD", longResult());
    await lab.startDaemon();
    if (withHand) await lab.startHand();
    const call = podCall(lab, "c1");
    const pipe = unreadPipe(lab);
    const shim = lab.start("ADD", { ...call, prefix: pipe.prefix });
    await pipe.untilWritten();
    expect((await attachments(lab)).map(({ phase }) => phase)).toEqual(["attaching"]);
    shim.process.kill("SIGKILL");
    if (!withHand) {
      await untilPhase(lab, "lost");
      expectSuccess(await lab.cni("DEL", call));
    }
    await expectNothingLeft(lab, { netns: [call.netns] });
  });
});

test("killed during each plugin of DEL: another shim finishes the DEL, and a repeated one succeeds", async () => {
  const cases = ["alpha", "beta", "gamma"].flatMap((plugin) => [
    { plugin, withHand: true },
    { plugin, withHand: false },
  ]);
  await eachOf(cases, 3, async ({ plugin, withHand }) => {
    await using lab = await makeNode();
    await lab.startDaemon();
    if (withHand) await lab.startHand();
    const call = podCall(lab, "c1");
    expectSuccess(await lab.cni("ADD", call));
    await lab.script(`${plugin}.DEL`, hangOnce(lab));
    await killAt(lab, call, "DEL");
    if (!withHand) expectSuccess(await lab.cni("DEL", call));
    await expectNothingLeft(lab, { netns: [call.netns] });
    expectSuccess(await lab.cni("DEL", call));
    await expectNothingLeft(lab, { netns: [call.netns] });
  });
});

test("killed during the undo of a failed ADD: the undo is finished, with a hand or by the DEL", async () => {
  await eachOf([true, false], 2, async (withHand) => {
    await using lab = await makeNode();
    await lab.script("gamma.ADD", "exit 1");
    await lab.script("beta.DEL", hangOnce(lab));
    await lab.startDaemon();
    if (withHand) await lab.startHand();
    const call = podCall(lab, "c1");
    await killAt(lab, call, "ADD");
    if (!withHand) expectSuccess(await lab.cni("DEL", call));
    await expectNothingLeft(lab, { netns: [call.netns] });
  });
});

test("without a resident hand another container's shim undoes what was lost once its namespace is gone, and not before", async () => {
  await using lab = await makeNode();
  await lab.script("beta.ADD", "[ $CNI_CONTAINERID != lost ] || sleep 60");
  await lab.startDaemon();
  const lost = podCall(lab, "lost");
  await killDuring(lab, lost, "ADD", "beta");
  await untilPhase(lab, "lost");

  const other = podCall(lab, "other");
  expectSuccess(await lab.cni("ADD", other));
  expect((await attachments(lab)).map(({ containerId }) => containerId).toSorted()).toEqual(["lost", "other"]);

  lab.deleteNetns(lost.netns);
  // A shim that comes in the pause after the last try (50 ms at first) leaves it to the next one.
  await Bun.sleep(250);
  const third = podCall(lab, "third");
  expectSuccess(await lab.cni("ADD", third));
  expect((await attachments(lab)).map(({ containerId }) => containerId).toSorted()).toEqual(["other", "third"]);
  const undone = (await lab.calls()).filter((call) => call.containerId === "lost" && call.command === "DEL");
  expect(undone.map(({ plugin, env }) => `${plugin} ${env["CNI_NETNS"] ?? ""}`)).toEqual(["beta ", "alpha "]);
  for (const call of [other, third]) expectSuccess(await lab.cni("DEL", call));
  await expectNothingLeft(lab, { netns: [other.netns, third.netns] });
});

test("the shim and the daemon are killed together in the middle of an ADD: the next daemon undoes it", async () => {
  await eachOf([true, false], 2, async (withHand) => {
    await using lab = await makeNode();
    await lab.script("beta.ADD", stubborn(lab));
    await lab.startDaemon();
    const call = podCall(lab, "c1");
    const shim = lab.start("ADD", call);
    await untilThere(lab, "beat");
    shim.process.kill("SIGKILL");
    await lab.killDaemon();
    await lab.startDaemon();
    if (withHand) await lab.startHand();
    else expectSuccess(await lab.cni("DEL", call));
    await expectNothingLeft(lab, { netns: [call.netns] });
    const last = BigInt((await readFile(lab.path("beat"), "utf8")).trim());
    expect(last < (await beginOf(lab, "DEL"))).toBe(true);
  });
});

test("killed while it leads several DELs of one container: another of them finishes, and all that are left succeed", async () => {
  await using lab = await makeNode();
  await lab.startDaemon();
  const call = podCall(lab, "c1");
  expectSuccess(await lab.cni("ADD", call));
  await lab.script("beta.DEL", hangOnce(lab));
  const leader = lab.start("DEL", call);
  await untilThere(lab, "once");
  const followers = [1, 2, 3, 4].map(() => lab.cni("DEL", call));
  await pause(100);
  leader.process.kill("SIGKILL");
  (await Promise.all(followers)).forEach(expectSuccess);
  await expectNothingLeft(lab, { netns: [call.netns] });
  expect((await story(lab, "DEL")).filter((line) => line.includes("alpha"))).toHaveLength(1);
});

/** Kills the shim of a call while a plugin is at work, and waits until that plugin is dead as well. */
async function killDuring(lab: Lab, call: PodCall, verb: string, plugin: string): Promise<void> {
  const shim = lab.start(verb, call);
  await untilRunning(lab, verb, plugin);
  shim.process.kill("SIGKILL");
  expect((await shim.outcome).signal).toBe("SIGKILL");
  const own = (process: string): boolean => !process.includes("levee-shim") && process.includes(`/bin/${plugin}`);
  await lab
    .until(
      "the plugin dies with its shim",
      async () => ((await pluginProcesses(lab)).some(own) ? undefined : true),
      3_000,
    )
    .catch(async (thrown: unknown) => {
      // The undo may be at work with the same plugin by now.
      if (!(await story(lab)).some((line) => line.startsWith(`DEL ${plugin}`))) throw thrown;
    });
}

/** Kills the shim of a call while the plugin with the script `hangOnce` hangs. */
async function killAt(lab: Lab, call: PodCall, verb: string): Promise<void> {
  const shim = lab.start(verb, call);
  await untilThere(lab, "once");
  shim.process.kill("SIGKILL");
  expect((await shim.outcome).signal).toBe("SIGKILL");
}

async function untilThere(lab: Lab, file: string): Promise<void> {
  await lab.until(`there is ${file}`, () => Promise.resolve(existsSync(lab.path(file)) || undefined));
}

/** When the first call of a kind began, in nanoseconds. */
async function beginOf(lab: Lab, command: string): Promise<bigint> {
  const names = (await readdir(lab.path("control/calls"))).toSorted().filter((name) => name.includes(`-${command}-`));
  return BigInt(names[0]?.split("-")[0] ?? "0");
}
