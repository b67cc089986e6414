import { expect, test } from "bun:test";
import { writeFile } from "node:fs/promises";
import { annotate, runPod } from "../plug/plug-node.ts";
import type { Lab } from "../lab/lab.ts";
import { eachOf, story, type PodCall } from "./crash-node.ts";
import {
  endPod,
  entriesOf,
  journalKinds,
  makeChangeNode,
  plugChanges,
  untilDead,
  untilSettled,
  type PlugChange,
} from "./plug-changes.ts";

const { plugTwo, unplug, swap, swapTwo } = plugChanges;

test.each([plugTwo, unplug, swap, swapTwo])(
  "the next daemon is killed, too, after each journal write of its recovery: $name",
  async (change) => {
    const firstWrite = await lastBeforeEnd(change);
    const kinds = await entriesOfRecovery(change, firstWrite);
    expect([kinds.includes("plug-ended"), kinds.at(-1)]).toEqual([true, "plug-ended"]);
    const cases = kinds.map((_kind, at) => ({ write: at + 1, killsHand: at % 2 === 0 }));
    await eachOf(cases, 2, async ({ write, killsHand }) => {
      await using lab = await makeChangeNode();
      const call = await killFirst(lab, change, firstWrite);
      await untilDead(lab, lab.launchDaemon({ LEVEE_FAULT: `journal-write:${write}` }));
      if (killsHand) await lab.killHand();
      await lab.startDaemon();
      if (killsHand) await lab.startHand();
      await untilSettled(lab, change.after);
      await endPod(lab, call);
    });
  },
);

/** The first daemon is killed after the last journal write before the change's end. */
async function lastBeforeEnd(change: PlugChange): Promise<number> {
  return (await entriesOf(change)).length - 1;
}

/** What the daemon writes that takes the change back, or finishes it, and makes it anew. */
async function entriesOfRecovery(change: PlugChange, firstWrite: number): Promise<readonly string[]> {
  await using lab = await makeChangeNode();
  await killFirst(lab, change, firstWrite);
  const before = (await journalKinds(lab)).length;
  await lab.startDaemon();
  await untilSettled(lab, change.after);
  return (await journalKinds(lab)).slice(before);
}

async function killFirst(lab: Lab, change: PlugChange, write: number): Promise<PodCall> {
  const call = await runPod(lab);
  await lab.killDaemon("SIGTERM");
  const daemon = await lab.startDaemon({ LEVEE_FAULT: `journal-write:${write}` });
  await annotate(lab, change.networks);
  await untilDead(lab, daemon);
  return call;
}

/** The plugins that a recovery runs. */
const runs = [
  { change: plugTwo, command: "DEL", plugin: "epsilon" },
  { change: plugTwo, command: "DEL", plugin: "delta" },
  { change: unplug, command: "DEL", plugin: "gamma" },
  { change: swap, command: "DEL", plugin: "delta" },
  { change: swap, command: "DEL", plugin: "gamma" },
  { change: swap, command: "ADD", plugin: "gamma" },
] as const;

test.each(["the daemon", "the hand", "daemon and hand"])(
  "killed while each plugin of a recovery runs: %s",
  async (who) => {
    const writes = new Map<PlugChange, number>();
    for (const { change } of runs) if (!writes.has(change)) writes.set(change, await lastBeforeEnd(change));
    await eachOf(runs, 2, async ({ change, command, plugin }) => {
      await using lab = await makeChangeNode();
      const call = await killFirst(lab, change, writes.get(change) ?? 0);
      const before = await countOf(lab, command, plugin);
      const gate = lab.path("go");
      await lab.script(`${plugin}.${command}`, `while [ ! -e ${gate} ]; do sleep 0.02; done`);
      await lab.startDaemon();
      await lab.until(`${plugin} runs ${command} again`, async () =>
        (await countOf(lab, command, plugin)) > before ? true : undefined,
      );
      if (who !== "the hand") await lab.killDaemon();
      if (who !== "the daemon") await lab.killHand();
      // A hand that is alive finishes its plugin before it connects again.
      await writeFile(gate, "");
      if (who !== "the hand") await lab.startDaemon();
      if (who !== "the daemon") await lab.startHand();
      await untilSettled(lab, change.after);
      await endPod(lab, call);
    });
  },
);

async function countOf(lab: Lab, command: string, plugin: string): Promise<number> {
  return (await story(lab, command)).filter((call) => call.startsWith(`${command} ${plugin} `)).length;
}
