import type { Bench } from "../bench.ts";
import { seconds, type Cell, type Verdict } from "../cell.ts";
import { fittedText } from "../../src/sim/storm/fit-model.ts";
import { acrossRuns } from "../runs.ts";
import { multusLabel } from "../contenders/multus.ts";
import { fitHere } from "../sim/fit-here.ts";
import { modelStorm } from "../sim/model-storm.ts";
import { realRuns, type RealRuns } from "../sim/real-runs.ts";
import type { SimCase, SimFigures } from "../sim/real-storm.ts";
import { simVerdict } from "../sim/sim-verdicts.ts";

const cases: readonly SimCase[] = [
  { label: "Levee, 219 pods", impl: "levee", pods: 219, cutMs: 120_000 },
  { label: "Levee, 219 pods, 100m CPU", impl: "levee", pods: 219, cpuMillis: 100, cutMs: 120_000 },
  { label: "Levee, 900 pods", impl: "levee", pods: 900, cutMs: 300_000 },
  { label: "Levee, 900 pods, 100m CPU", impl: "levee", pods: 900, cpuMillis: 100, cutMs: 300_000 },
  // Not 30 s: that is the plugins' deadline, and how many reach it before the cut would be chance.
  { label: "Levee, 219 pods, half hang", impl: "levee", pods: 219, hangs: true, cutMs: 60_000 },
  // 219 pods are attached before the second kill.
  { label: "Levee, 900 pods, killed every 2 s", impl: "levee", pods: 900, killEveryMs: 2_000, cutMs: 300_000 },
  { label: "Multus v4.2.2, 219 pods", impl: "multus-4.2.2", pods: 219, cutMs: 60_000 },
  { label: "Multus v4.3.0, 219 pods", impl: "multus-4.3.0", pods: 219, cutMs: 60_000 },
  { label: "Multus v4.2.2, 219 pods, 100m CPU", impl: "multus-4.2.2", pods: 219, cpuMillis: 100, cutMs: 100_000 },
  { label: "Multus v4.2.2, 30 pods", impl: "multus-4.2.2", pods: 30, cutMs: 40_000 },
  { label: "Multus v4.2.2, 219 pods, 256Mi", impl: "multus-4.2.2", pods: 219, limitMib: 256, cutMs: 60_000 },
  { label: "Multus v4.3.0 with limit 8, 219 pods", impl: "multus-4.3.0", pods: 219, connectionLimit: 8, cutMs: 60_000 },
  {
    label: "Multus v4.3.0 with limit 8, 219 pods, 256Mi",
    impl: "multus-4.3.0",
    pods: 219,
    limitMib: 256,
    connectionLimit: 8,
    cutMs: 60_000,
  },
];

/** The same storms for real and in the simulator, whose model is fitted to this machine first. */
export async function sim(bench: Bench): Promise<Cell> {
  const { model: fitted, storms } = await fitHere(bench);
  const constants = `Fitted in this run, to storms of ${storms.map(({ pods }) => pods).join(", ")} pods: ${fittedText(fitted)}. All other constants are those of default-model.ts.`;
  bench.say(constants);
  const rows: string[][] = [];
  const verdicts: Verdict[] = [];
  const figures: unknown[] = [];
  for (const wanted of cases) {
    const contender = contenderOf(bench, wanted);
    if (contender === undefined || "missing" in contender) continue;
    const sized = { ...wanted, pods: bench.count(wanted.pods) };
    const real = await realRuns(bench, contender, sized);
    const model = await modelStorm(sized, fitted);
    rows.push(rowOf(sized, real, model));
    verdicts.push(simVerdict(sized, real.runs, model));
    figures.push({ ...sized, ...real, model });
    bench.say(rows.at(-1)?.join(" | ") ?? "");
  }
  return {
    name: "sim",
    title: "Storms for real and in the simulator, 50Mi where no other limit is named",
    command: "npm run bench -- sim",
    header: [
      "real / simulated",
      "runs",
      "attached",
      "time",
      "critical pods wait",
      "refusals",
      "OOM kills",
      "first kill",
    ],
    rows,
    verdicts,
    notes: [
      constants,
      "The real storms of Levee run three times, those of Multus twice; where the runs differ by more than a tenth, the lowest and the highest are shown. The simulator has to be near to one of the runs, or between two.",
    ],
    plots: {},
    figures: { fitted, storms, cases: figures },
  };
}

function contenderOf({ levee, peers }: Bench, { impl, connectionLimit }: SimCase): Bench["peers"][number] | undefined {
  if (impl === "levee") return levee;
  const version = impl === "multus-4.2.2" ? "v4.2.2" : "v4.3.0";
  const wanted = multusLabel({ version, ...(connectionLimit === undefined ? {} : { connectionLimit }) });
  return peers.find(({ label }) => label === wanted);
}

/** The spread of the real runs beside what the model says. */
function rowOf({ label }: SimCase, { runs }: RealRuns, model: SimFigures): string[] {
  const both = (pick: (one: SimFigures) => number | undefined, show: (value: number) => string): string => {
    const text = (value: number): string => (value === Infinity ? "never" : show(value));
    const real = runs.map((one) => pick(one) ?? Infinity);
    return `${acrossRuns(real, text)} / ${text(pick(model) ?? Infinity)}`;
  };
  const count = (value: number): string => `${value}`;
  return [
    label,
    `${runs.length}`,
    both(({ attached }) => attached, count),
    both(({ tookMs }) => tookMs, seconds),
    both(({ criticalMs }) => criticalMs, seconds),
    both(({ refusals }) => refusals, count),
    both(({ oomKills }) => oomKills, count),
    both(({ firstKillMs }) => firstKillMs, seconds),
  ];
}
