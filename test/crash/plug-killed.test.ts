import { expect, test } from "bun:test";
import { eachOf, story, untilRunning } from "./crash-node.ts";
import {
  endPod,
  entriesOf,
  failPlugin,
  makeChangeNode,
  plugChanges,
  untilDead,
  untilSettled,
  type PlugChange,
} from "./plug-changes.ts";
import { annotate, networksOfPod, runPod } from "../plug/plug-node.ts";
import type { Lab } from "../lab/lab.ts";

const { plug, plugTwo, unplug, swap, swapTwo } = plugChanges;

const attempts: readonly PlugChange[] = [
  plug,
  plugTwo,
  unplug,
  swap,
  { ...swap, name: "failed swap", failing: "delta" },
  { ...swapTwo, name: "swap whose second plugin fails", failing: "epsilon" },
];

test("the daemon is killed when the old network has come back: its next DEL gets its newest result", async () => {
  const { networks } = swap;
  const kinds = await entriesOf({ ...swap, failing: "delta" });
  expect(kinds).toEqual(["plug", "plug-step", "plug-ended"]);
  await using lab = await makeChangeNode();
  const call = await runPod(lab);
  await lab.killDaemon("SIGTERM");
  await failPlugin(lab, "delta");
  await lab.answer("gamma.ADD", '{"cniVersion":"1.0.0","dns":{"domain":"gamma","search":["newest"]}}');
  const daemon = await lab.startDaemon({ LEVEE_FAULT: "journal-write:2" });
  await annotate(lab, networks);
  await untilDead(lab, daemon);
  const before = (await lab.calls()).length;
  await annotate(lab, "second");
  await lab.startDaemon();
  await untilSettled(lab, ["second net1"]);
  const removed = (await lab.calls()).slice(before).find((one) => `${one.command} ${one.plugin}` === "DEL gamma");
  expect(JSON.parse(removed?.stdin ?? "{}")).toMatchObject({ prevResult: { dns: { search: ["newest"] } } });
  await endPod(lab, call);
});

interface Case {
  readonly attempt: PlugChange;
  readonly write: number;
  /** Whether the annotation is set back while no daemon runs. */
  readonly isTakenBack: boolean;
  readonly killsHand: boolean;
}

test.each(attempts)(
  "the daemon, or daemon and hand, are killed after each journal write of a $name: the pod ends with the old or the new networks",
  async (attempt) => {
    const kinds = await entriesOf(attempt);
    expect([kinds[0], kinds.at(-1)]).toEqual(["plug", "plug-ended"]);
    if (attempt === plugTwo) expect(kinds).toEqual(["plug", "plug-step", "plug-step", "plug-ended"]);
    const cases = kinds.flatMap((_kind, at) => [
      { attempt, write: at + 1, isTakenBack: false, killsHand: at % 2 === 0 },
      { attempt, write: at + 1, isTakenBack: true, killsHand: at % 2 === 1 },
    ]);
    await eachOf(cases, 2, killAt);
  },
);

async function killAt({ attempt, write, isTakenBack, killsHand }: Case): Promise<void> {
  await using lab = await makeChangeNode();
  const call = await runPod(lab);
  await lab.killDaemon("SIGTERM");
  if (attempt.failing !== undefined) await failPlugin(lab, attempt.failing);
  const daemon = await lab.startDaemon({ LEVEE_FAULT: `journal-write:${write}` });
  await annotate(lab, attempt.networks);
  await untilDead(lab, daemon);
  if (killsHand) await lab.killHand();
  if (attempt.failing !== undefined) await lab.unscript(`${attempt.failing}.ADD`);
  if (isTakenBack) await annotate(lab, "second");
  await lab.startDaemon();
  if (killsHand) await lab.startHand();
  await untilSettled(lab, isTakenBack ? ["second net1"] : attempt.after);
  await endPod(lab, call);
}

const runs = [
  { change: plug, command: "ADD", plugin: "delta" },
  { change: plugTwo, command: "ADD", plugin: "delta" },
  { change: plugTwo, command: "ADD", plugin: "epsilon" },
  { change: unplug, command: "DEL", plugin: "gamma" },
  { change: swap, command: "DEL", plugin: "gamma" },
  { change: swap, command: "ADD", plugin: "delta" },
  { change: swapTwo, command: "ADD", plugin: "epsilon" },
] as const;

test("the hand is killed while each plugin of a change runs: the next hand ends it", async () => {
  await eachOf(runs, 2, async (run) => {
    await using lab = await makeChangeNode();
    const call = await killDuring(lab, run, () => lab.killHand());
    await lab.startHand();
    await untilSettled(lab, run.change.after);
    await endPod(lab, call);
  });
});

test("daemon and hand are killed together while each plugin of a change runs: the next ones end it", async () => {
  await eachOf(runs, 2, async (run) => {
    await using lab = await makeChangeNode();
    const call = await killDuring(lab, run, () => Promise.all([lab.killDaemon(), lab.killHand()]));
    await lab.startDaemon();
    // Without a hand the change waits as it is.
    expect(await networksOfPod(lab)).toEqual(["second net1"]);
    await lab.startHand();
    await untilSettled(lab, run.change.after);
    await endPod(lab, call);
  });
});

async function killDuring(
  lab: Lab,
  { change, command, plugin }: (typeof runs)[number],
  kill: () => Promise<unknown>,
): ReturnType<typeof runPod> {
  const call = await runPod(lab);
  await lab.script(`${plugin}.${command}`, "sleep 60");
  await annotate(lab, change.networks);
  await untilRunning(lab, command, plugin);
  await kill();
  await lab.unscript(`${plugin}.${command}`);
  return call;
}

test("the hand is killed in the middle of a swap and none comes back: the runtime's DEL removes both networks", async () => {
  await using lab = await makeChangeNode();
  const call = await killDuring(lab, { change: swap, command: "ADD", plugin: "delta" }, () => lab.killHand());
  await endPod(lab, call);
});

test("the daemon is killed while the hand attaches: the hand finishes its plugin first, and nothing is left of it", async () => {
  await using lab = await makeChangeNode();
  const call = await runPod(lab);
  await lab.script("delta.ADD", "sleep 1");
  await annotate(lab, "second,third");
  await untilRunning(lab, "ADD", "delta");
  await lab.killDaemon();
  await annotate(lab, "second");
  await lab.startDaemon();
  await lab.until("what was attached is removed", async () => (await story(lab, "DEL"))[0]);
  await untilSettled(lab, ["second net1"]);
  const [added, removed] = await lab.calls();
  expect([added?.ended, removed?.plugin]).toEqual([true, "delta"]);
  await endPod(lab, call);
});
