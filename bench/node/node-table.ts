import { round, seconds, type Verdict } from "../cell.ts";
import { acrossRuns, medianOf } from "../runs.ts";
import type { GroupUse } from "./group-watch.ts";
import type { ContenderName } from "./make-contender.ts";
import { criticalCount, type StormOutcome } from "./storm.ts";

const timesMax = 0.95;
const criticalExtraMs = 1_000;

export const nodeHeader = [
  "",
  "running",
  "all Running",
  "critical pods",
  "failed sandboxes",
  "OOM kills",
  "restarts",
  "peak MiB (anonymous)",
  "daemon's CPU",
  "throttled",
  "deleted in",
  "left",
];

/** The runs of each contender. Those of the primary and of Levee with the same number ran one after the other. */
export type Outcomes = Partial<Record<ContenderName, readonly StormOutcome[]>>;

export function nodeRow(label: string, runs: readonly StormOutcome[], count: number): readonly string[] {
  const across = (tell: (run: StormOutcome) => number, show: (value: number) => string = String): string =>
    acrossRuns(runs.map(tell), show);
  const ofUse = (tell: (use: GroupUse) => number, show?: (value: number) => string): string =>
    runs.some(({ use }) => use === undefined) ? "–" : across(({ use }) => (use === undefined ? 0 : tell(use)), show);
  const ofDeleted = (tell: (run: StormOutcome) => number, show?: (value: number) => string): string =>
    runs.some(({ left }) => left === undefined) ? "–" : across(tell, show);
  const mib = (tell: (use: GroupUse) => number): string => ofUse(tell, (value) => `${round(value)}`);
  const anonymous = mib(({ peakAnonMib }) => peakAnonMib);
  return [
    label,
    across(({ runningMs }) => runningMs.length),
    across((run) => allRunningMs(run, count), timeText),
    across(criticalMs, timeText),
    across(({ failedSandboxes }) => failedSandboxes),
    ofUse(({ oomKills }) => oomKills),
    across(({ restarts }) => restarts),
    anonymous === "–" ? "–" : `${mib(({ peakUsageMib }) => peakUsageMib)} (${anonymous})`,
    ofUse(({ cpuMs }) => cpuMs, timeText),
    ofUse(({ throttledMs }) => throttledMs, timeText),
    ofDeleted(({ deletedMs }) => deletedMs ?? Number.POSITIVE_INFINITY, timeText),
    ofDeleted(({ left }) => left?.length ?? 0),
  ];
}

export function nodeVerdicts({ primary, levee }: Outcomes, count: number): readonly Verdict[] {
  if (primary === undefined || levee === undefined) return [];
  const kills = levee.reduce((sum, { use }) => sum + (use?.oomKills ?? 0), 0);
  const restarts = levee.reduce((sum, run) => sum + run.restarts, 0);
  const left = levee.map((run) => run.left?.length);
  return [
    timeVerdict(primary, levee, count),
    criticalVerdict(primary, levee),
    {
      promise: "no OOM kill, no restart",
      seen: `${kills} kills, ${restarts} restarts`,
      holds: kills === 0 && restarts === 0,
    },
    {
      promise: "nothing left when all are deleted",
      seen: left.includes(undefined) ? "not all were running" : `${Math.max(...left.map(Number))} left`,
      holds: left.every((count) => count === 0),
    },
  ];
}

/** The median of the pairs, as both runs of a pair had the same machine beside them; a pod that fails once is one too many. */
function timeVerdict(primary: readonly StormOutcome[], levee: readonly StormOutcome[], count: number): Verdict {
  const times = levee.map((run, at) => allRunningMs(run, count) / allRunningMs(primary[at] ?? run, count));
  const failed = levee.map(({ failedSandboxes }) => failedSandboxes);
  const pairs = levee.map((run, at) => {
    const floorMs = allRunningMs(primary[at] ?? run, count);
    return `${timeText(allRunningMs(run, count))} against ${timeText(floorMs)}`;
  });
  return {
    promise: `all Running and no failed sandbox in each of ${levee.length} runs; their median is at most ${timesMax} × the primary CNI alone`,
    seen: `${round(medianOf(times))} × (${pairs.join(", ")}), failed sandboxes: ${failed.join(", ")}`,
    holds:
      medianOf(times) <= timesMax &&
      levee.every((run) => run.failedSandboxes === 0 && Number.isFinite(allRunningMs(run, count))),
  };
}

function criticalVerdict(primary: readonly StormOutcome[], levee: readonly StormOutcome[]): Verdict {
  const [floorMs, tookMs] = [medianOf(primary.map(criticalMs)), medianOf(levee.map(criticalMs))];
  return {
    promise: "critical pods no later than with the primary CNI alone plus 1 s",
    seen: `${timeText(tookMs)} against ${timeText(floorMs)}`,
    holds: Number.isFinite(tookMs) && tookMs <= floorMs + criticalExtraMs,
  };
}

/** Infinite if not all were running in time. */
export function allRunningMs({ runningMs }: StormOutcome, count: number): number {
  return runningMs.length === count ? (runningMs.at(-1) ?? 0) : Number.POSITIVE_INFINITY;
}

/** The time of the pod that waited longest; infinite if not all were running in time. */
function criticalMs({ criticalRunningMs }: StormOutcome): number {
  return criticalRunningMs.length === criticalCount ? (criticalRunningMs.at(-1) ?? 0) : Number.POSITIVE_INFINITY;
}

function timeText(ms: number): string {
  return seconds(Number.isFinite(ms) ? ms : undefined);
}
