import type { Bench } from "../bench.ts";
import { round, seconds, type Cell, type Verdict } from "../cell.ts";
import { timeLine } from "../time-line.ts";
import { contenderLabels, type ContenderName } from "./make-contender.ts";
import { nodePrograms, runContender, type Programs } from "./run-contender.ts";
import { criticalCount, type StormOutcome } from "./storm.ts";

const pods = 219;
/** More than twice the usual time. */
const cutMs = 200_000;
const timesMax = 1.2;
const criticalExtraMs = 1_000;
const ours = ["primary", "levee"] as const;
const peers = ["multus-v4.2.2", "multus-v4.3.0"] as const;

const header = [
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

type Outcomes = Partial<Record<ContenderName, StormOutcome>>;

/** The storm on a real node: kubelet, containerd, runc and the API server set the pace, as they did in the outage. */
export async function nodeStorm(bench: Bench): Promise<Cell> {
  const programs = await nodePrograms();
  if ("missing" in programs) return cellOf({}, [`No node: ${programs.missing}`], bench.count(pods));
  const outcomes: Outcomes = {};
  for (const contender of bench.options.withPeers ? [...ours, ...peers] : ours)
    outcomes[contender] = await one(bench, programs, contender);
  return cellOf(outcomes, [], bench.count(pods));
}

function one(bench: Bench, programs: Programs, contender: ContenderName): Promise<StormOutcome> {
  const { disk } = bench.ground;
  disk.requireReadAhead();
  return runContender(disk.folder, programs, { contender, pods: bench.count(pods), cutMs });
}

function cellOf(outcomes: Outcomes, notes: readonly string[], count: number): Cell {
  const title = `${count} pods bound at once on a real node, 50Mi and 100m CPU`;
  const known = Object.entries(outcomes) as readonly [ContenderName, StormOutcome][]; // The keys are those of `outcomes`.
  const curves = known.map(([name, outcome]) => ({ label: contenderLabels[name], attachedAtMs: outcome.runningMs }));
  return {
    name: "node",
    title,
    command: "npm run bench -- node",
    header,
    rows: known.map(([name, outcome]) => rowOf(name, outcome, count)),
    verdicts: verdictsOf(outcomes, count),
    notes: [
      ...notes,
      "The primary CNI alone attaches one network; the others attach two.",
      "Critical pods: the last of six of another namespace that are bound 2 s later, from their binding to Running.",
    ],
    plots: curves.length === 0 ? {} : { node: timeLine({ title, pods: count, curves, what: "pods running" }) },
    figures: outcomes,
  };
}

function rowOf(name: ContenderName, outcome: StormOutcome, count: number): readonly string[] {
  const { use } = outcome;
  const ofUse = (tell: (seen: NonNullable<typeof use>) => string): string => (use === undefined ? "–" : tell(use));
  return [
    contenderLabels[name],
    `${outcome.runningMs.length}`,
    seconds(allRunningMs(outcome, count)),
    seconds(criticalMs(outcome)),
    `${outcome.failedSandboxes}`,
    ofUse(({ oomKills }) => `${oomKills}`),
    `${outcome.restarts}`,
    ofUse(({ peakUsageMib, peakAnonMib }) => `${round(peakUsageMib)} (${round(peakAnonMib)})`),
    ofUse(({ cpuMs }) => seconds(cpuMs)),
    ofUse(({ throttledMs }) => seconds(throttledMs)),
    outcome.left === undefined ? "–" : seconds(outcome.deletedMs),
    outcome.left === undefined ? "–" : `${outcome.left.length}`,
  ];
}

function verdictsOf({ primary, levee }: Outcomes, count: number): readonly Verdict[] {
  if (primary === undefined || levee === undefined) return [];
  const kills = levee.use?.oomKills ?? 0;
  return [
    timeVerdict(primary, levee, count),
    criticalVerdict(primary, levee),
    {
      promise: "no OOM kill, no restart",
      seen: `${kills} kills, ${levee.restarts} restarts`,
      holds: kills === 0 && levee.restarts === 0,
    },
    {
      promise: "nothing left when all are deleted",
      seen: levee.left === undefined ? "not all were running" : `${levee.left.length} left`,
      holds: levee.left?.length === 0,
    },
  ];
}

function timeVerdict(primary: StormOutcome, levee: StormOutcome, count: number): Verdict {
  const [floorMs, tookMs] = [allRunningMs(primary, count), allRunningMs(levee, count)];
  const times = floorMs === undefined || tookMs === undefined ? Infinity : tookMs / floorMs;
  return {
    promise: `all Running, at most ${timesMax} × the primary CNI alone`,
    seen: `${levee.runningMs.length} of ${count}, ${seconds(tookMs)} against ${seconds(floorMs)} (${round(times)} ×)`,
    holds: times <= timesMax,
  };
}

function criticalVerdict(primary: StormOutcome, levee: StormOutcome): Verdict {
  const [floorMs, tookMs] = [criticalMs(primary), criticalMs(levee)];
  return {
    promise: "critical pods no later than with the primary CNI alone plus 1 s",
    seen: `${seconds(tookMs)} against ${seconds(floorMs)}`,
    holds: floorMs !== undefined && tookMs !== undefined && tookMs <= floorMs + criticalExtraMs,
  };
}

function allRunningMs({ runningMs }: StormOutcome, count: number): number | undefined {
  return runningMs.length === count ? runningMs.at(-1) : undefined;
}

/** The time of the pod that waited longest. */
function criticalMs({ criticalRunningMs }: StormOutcome): number | undefined {
  return criticalRunningMs.length === criticalCount ? criticalRunningMs.at(-1) : undefined;
}
