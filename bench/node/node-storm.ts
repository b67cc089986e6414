import type { Bench } from "../bench.ts";
import type { Cell } from "../cell.ts";
import { middleRun } from "../runs.ts";
import { timeLine } from "../time-line.ts";
import { contenderLabels, type ContenderName } from "./make-contender.ts";
import { allRunningMs, nodeHeader, nodeRow, nodeVerdicts, type Outcomes } from "./node-table.ts";
import { nodePrograms, runContender, type Programs } from "./run-contender.ts";
import type { StormOutcome } from "./storm.ts";

const pods = 219;
/** More than twice the usual time. */
const cutMs = 200_000;
/** On a machine with two cores one storm takes up to a third longer than the next. */
const rounds = 3;
const ours = ["primary", "levee"] as const;
const peers = ["multus-v4.2.2", "multus-v4.3.0"] as const;

/** The storm on a real node: kubelet, containerd, runc and the API server set the pace, as they did in the outage. */
export async function nodeStorm(bench: Bench): Promise<Cell> {
  const programs = await nodePrograms();
  if ("missing" in programs) return cellOf({}, [`No node: ${programs.missing}`], bench.count(pods));
  const outcomes: Partial<Record<ContenderName, StormOutcome[]>> = {};
  // In pairs, because the machine is not as fast in one quarter of an hour as in the next.
  for (let round = 0; round < (bench.options.isQuick ? 1 : rounds); round += 1)
    for (const contender of ours) (outcomes[contender] ??= []).push(await one(bench, programs, contender));
  if (bench.options.withPeers)
    for (const contender of peers) outcomes[contender] = [await one(bench, programs, contender)];
  return cellOf(outcomes, [], bench.count(pods));
}

function one(bench: Bench, programs: Programs, contender: ContenderName): Promise<StormOutcome> {
  const { disk } = bench.ground;
  disk.requireReadAhead();
  return runContender(disk.folder, programs, { contender, pods: bench.count(pods), cutMs });
}

function cellOf(outcomes: Outcomes, notes: readonly string[], count: number): Cell {
  const title = `${count} pods bound at once on a real node, 50Mi and 100m CPU`;
  const known = Object.entries(outcomes) as readonly [ContenderName, readonly StormOutcome[]][]; // The keys are those of `outcomes`.
  const curves = known.map(([name, runs]) => ({
    label: contenderLabels[name],
    attachedAtMs: middleRun(runs, (run) => allRunningMs(run, count)).runningMs,
  }));
  return {
    name: "node",
    title,
    command: "npm run bench -- node",
    header: nodeHeader,
    rows: known.map(([name, runs]) => nodeRow(contenderLabels[name], runs, count)),
    verdicts: nodeVerdicts(outcomes, count),
    notes: [
      ...notes,
      "The primary CNI alone and Levee ran in turn, three times each. A number is the median; where the runs differ by more than a tenth, the table shows the lowest and the highest.",
      "The primary CNI alone attaches one network; the others attach two.",
      "Critical pods: the last of six of another namespace that are bound 2 s later, from their binding to Running.",
    ],
    plots: curves.length === 0 ? {} : { node: timeLine({ title, pods: count, curves, what: "pods running" }) },
    figures: outcomes,
  };
}
