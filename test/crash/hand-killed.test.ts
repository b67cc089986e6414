import { expect, test } from "bun:test";
import { existsSync } from "node:fs";
import { readdir, readFile } from "node:fs/promises";
import type { Lab } from "../lab/lab.ts";
import { eachOf, expectSuccess, makeNode, podCall, story, untilPhase, type PodCall } from "./crash-node.ts";
import { expectNothingLeft } from "./nothing-left.ts";

test("killed while it undoes: the next hand takes the work up, after everything of the first one is gone", async () => {
  await using lab = await makeNode();
  const call = await killWhileItUndoes(lab);
  await lab.startHand();
  await expectNothingLeft(lab, { netns: [call.netns] });
  await expectNoBeatAfter(lab, 2);
  expect(await story(lab, "DEL")).toEqual(["DEL beta eth0", "DEL beta eth0", "DEL alpha eth0"]);
});

test("killed while it undoes, and no other comes: the runtime's DEL does it, after everything of the hand is gone", async () => {
  await using lab = await makeNode();
  const call = await killWhileItUndoes(lab);
  await untilPhase(lab, "lost");
  expectSuccess(await lab.cni("DEL", call));
  await expectNothingLeft(lab, { netns: [call.netns] });
  await expectNoBeatAfter(lab, 2);
});

test("killed while it carries out a delete that was made without a daemon: the next hand waits for the first one's processes too", async () => {
  await using lab = await makeNode();
  await lab.startDaemon();
  const call = podCall(lab, "c1");
  expectSuccess(await lab.cni("ADD", call));
  await lab.killDaemon();
  expectSuccess(await lab.cni("DEL", { ...call, conf: lab.shimConf({ delPatienceMs: 50 }) }));
  await lab.script("beta.DEL", beatOnce(lab));
  await lab.startDaemon();
  await lab.startHand();
  await untilThere(lab, "beat");
  await lab.killHand();
  await lab.startHand();
  await expectNothingLeft(lab, { netns: [call.netns] });
  await expectNoBeatAfter(lab, 2);
});

test("the daemon is killed while the hand undoes: the hand finishes its plugin, comes back, and the undo is done once more", async () => {
  await using lab = await makeNode();
  await lab.script("beta.ADD", "sleep 60");
  await lab.script("beta.DEL", `[ -e ${lab.path("once")} ] || { : >${lab.path("once")}; sleep 0.6; }`);
  await lab.startDaemon();
  await lab.startHand();
  const call = podCall(lab, "c1");
  await loseShim(lab, call);
  await untilThere(lab, "once");
  await lab.killDaemon();
  await lab.startDaemon();
  await expectNothingLeft(lab, { netns: [call.netns] });
  const calls = (await lab.calls()).filter(({ command }) => command === "DEL");
  expect(calls.map(({ plugin, ended }) => `${plugin} ${ended}`)).toEqual(["beta true", "beta true", "alpha true"]);
});

test("ended by SIGTERM while it undoes: its plugin may finish", async () => {
  await using lab = await makeNode();
  await lab.script("beta.ADD", "sleep 60");
  await lab.script("beta.DEL", `: >${lab.path("once")}; sleep 0.3`);
  await lab.startDaemon();
  await lab.startHand();
  const call = podCall(lab, "c1");
  await loseShim(lab, call);
  await untilThere(lab, "once");
  expect(await lab.killHand("SIGTERM")).toBe(0);
  expect(
    (await lab.calls())
      .filter(({ plugin, command }) => plugin === "beta" && command === "DEL")
      .map(({ ended }) => ended),
  ).toEqual([true]);
  await lab.startHand();
  await expectNothingLeft(lab, { netns: [call.netns] });
});

test("killed ten times in a row, and the daemon with it every other time: all lost attachments are undone in the end", async () => {
  await using lab = await makeNode();
  await lab.script("beta.ADD", "sleep 60");
  await lab.script("DEL", "sleep 0.05");
  await lab.startDaemon();
  const calls = Array.from({ length: 6 }, (_, index) => podCall(lab, `c${index}`));
  await eachOf(calls, 6, (call) => loseShim(lab, call));
  for (let round = 0; round < 10; round += 1) {
    await lab.startHand();
    await new Promise((resolve) => setTimeout(resolve, 60 + 15 * round));
    await lab.killHand();
    if (round % 2 === 1) {
      await lab.killDaemon();
      await lab.startDaemon();
    }
  }
  await lab.startHand();
  await expectNothingLeft(lab, { netns: calls.map(({ netns }) => netns) });
});

/** Loses a shim, and kills the hand in the middle of the undo. */
async function killWhileItUndoes(lab: Lab): Promise<PodCall> {
  await lab.script("beta.ADD", "sleep 60");
  await lab.script("beta.DEL", beatOnce(lab));
  await lab.startDaemon();
  await lab.startHand();
  const call = podCall(lab, "c1");
  await loseShim(lab, call);
  await untilThere(lab, "beat");
  await lab.killHand();
  return call;
}

/** Starts an ADD and kills its shim while beta hangs. */
async function loseShim(lab: Lab, call: PodCall): Promise<void> {
  const shim = lab.start("ADD", call);
  await lab.until("beta runs", async () => {
    const names = await readdir(lab.path("control/calls"));
    return names.some((name) => name.includes(`-beta-ADD-${call.containerId}-`)) || undefined;
  });
  shim.process.kill("SIGKILL");
  await shim.outcome;
}

/** The first time: a child that ignores signals and writes the time down for as long as it lives. */
function beatOnce(lab: Lab): string {
  const beat = lab.path("beat");
  return `[ -e ${beat} ] || { (trap '' TERM INT HUP PIPE; while :; do date +%s%N >${beat}.new; mv ${beat}.new ${beat}; sleep 0.01; done) >/dev/null 2>&1 </dev/null & sleep 60; }`;
}

/** The beat ended before the nth DEL of beta began. */
async function expectNoBeatAfter(lab: Lab, nth: number): Promise<void> {
  const last = BigInt((await readFile(lab.path("beat"), "utf8")).trim());
  const names = (await readdir(lab.path("control/calls"))).toSorted().filter((name) => name.includes("-beta-DEL-"));
  expect(last < BigInt(names[nth - 1]?.split("-")[0] ?? "0")).toBe(true);
}

async function untilThere(lab: Lab, file: string): Promise<void> {
  await lab.until(`there is ${file}`, () => Promise.resolve(existsSync(lab.path(file)) || undefined));
}
