import { systemClock, type Cancel, type Clock } from "../../src/base/clock.ts";
import type { Bench } from "../bench.ts";
import { seconds, type Cell, type Verdict } from "../cell.ts";
import type { RunningNode } from "../contenders/contender.ts";
import { leftBehind, onLevee, smallLimits } from "../storm/on-levee.ts";
import { stormPods } from "../storm/pods.ts";
import { attachedCount, attachTimes, stormOn, type StormOutcome } from "../storm/storm.ts";
import { timeLine } from "../time-line.ts";

/** With built-in plugins a storm may be over within 2 s, so the first kill comes early. */
const firstKillMs = 500;
const killEveryMs = 2_000;
const cutMs = 240_000;
const killed = `killed after ${firstKillMs / 1000} s and then every ${killEveryMs / 1000} s`;

interface Seen {
  readonly pods: number;
  readonly attached: number;
  readonly tookMs: number | undefined;
  readonly kills: number;
  readonly failed: number;
  /** Empty if nothing is left. */
  readonly left: string;
}

/** The storm while the daemon is killed again and again: the next daemon continues the work. */
export async function kill2s(bench: Bench): Promise<Cell> {
  const pods = bench.count(219);
  return onLevee(bench, { limits: smallLimits, restartMs: 0 }, async (node) => {
    const outcome = await stormWithKills(bench, node, pods);
    await outcome.settled;
    await outcome.fleet.deleteAll(AbortSignal.timeout(60_000));
    const errors = outcome.records.flatMap((record) => record.errors.map(({ message }) => message));
    const seen: Seen = {
      pods,
      attached: attachedCount(outcome.records),
      tookMs: outcome.tookMs,
      kills: node.daemon.restarts,
      failed: errors.length,
      left: await leftBehind(bench),
    };
    const title = `${pods} pods at once, 50Mi, the daemon ${killed}`;
    const { attached, tookMs, kills, failed, left } = seen;
    return {
      name: "kill2s",
      title,
      command: "npm run bench -- kill2s",
      header: ["", "attached", "time", "kills", "failed ADDs", "left behind"],
      rows: [["Levee", `${attached}`, seconds(tookMs), `${kills}`, `${failed}`, left || "nothing"]],
      verdicts: [killVerdict(seen)],
      notes: [...new Set(errors)].slice(0, 3).map((message) => `An ADD failed: ${message}`),
      plots: { kill2s: timeLine({ title, pods, curves: [{ label: "Levee", attachedAtMs: attachTimes(outcome) }] }) },
      figures: { attachedAtMs: attachTimes(outcome), kills, failed, left },
    };
  });
}

async function stormWithKills(bench: Bench, node: RunningNode, pods: number): Promise<StormOutcome> {
  let stop: Cancel = () => undefined;
  const onBegin = (): void => {
    stop = killAgainAndAgain(systemClock, () => node.group.killAll());
  };
  try {
    return await stormOn(bench.ground, node, { pods: stormPods(pods), late: [], cutMs, onBegin });
  } finally {
    stop();
  }
}

/** Kills until it is cancelled. */
export function killAgainAndAgain(clock: Pick<Clock, "after" | "every">, kill: () => void): Cancel {
  let stop: Cancel = clock.after(firstKillMs, () => {
    kill();
    stop = clock.every(killEveryMs, kill);
  });
  return () => stop();
}

/** A storm without a kill proves nothing. */
export function killVerdict({ pods, attached, tookMs, kills, failed, left }: Seen): Verdict {
  return {
    promise: `${pods} pods while the daemon is ${killed}: at least one kill, all attached, no ADD failed, nothing leaked`,
    seen: `${attached} in ${seconds(tookMs)} over ${kills} ${kills === 1 ? "kill" : "kills"}, ${failed} failed, left behind: ${left || "nothing"}`,
    holds: kills > 0 && attached === pods && failed === 0 && left === "",
  };
}
