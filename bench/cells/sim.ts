import type { Bench } from "../bench.ts";
import type { Cell } from "../cell.ts";
import { realStorm, type SimCase } from "../sim/real-storm.ts";

const cases: readonly SimCase[] = [
  { label: "Levee, 219 pods", impl: "levee", pods: 219, cutMs: 120_000 },
  { label: "Levee, 219 pods, 100m CPU", impl: "levee", pods: 219, cpuMillis: 100, cutMs: 120_000 },
  { label: "Levee, 900 pods", impl: "levee", pods: 900, cutMs: 300_000 },
  { label: "Levee, 900 pods, 100m CPU", impl: "levee", pods: 900, cpuMillis: 100, cutMs: 300_000 },
  { label: "Levee, 219 pods, half hang", impl: "levee", pods: 219, hangs: true, cutMs: 30_000 },
  { label: "Levee, 219 pods, killed every 2 s", impl: "levee", pods: 219, killEveryMs: 2_000, cutMs: 120_000 },
  { label: "Multus v4.2.2, 219 pods", impl: "multus-4.2.2", pods: 219, cutMs: 60_000 },
  { label: "Multus v4.3.0, 219 pods", impl: "multus-4.3.0", pods: 219, cutMs: 60_000 },
  { label: "Multus v4.2.2, 219 pods, 100m CPU", impl: "multus-4.2.2", pods: 219, cpuMillis: 100, cutMs: 100_000 },
  { label: "Multus v4.2.2, 30 pods", impl: "multus-4.2.2", pods: 30, cutMs: 40_000 },
];

/** The same storms for real and in the simulator. */
export async function sim(bench: Bench): Promise<Cell> {
  for (const wanted of cases) {
    const peer = bench.peers.find(({ label }) => label === `Multus v${wanted.impl.slice(7)}`);
    const contender = wanted.impl === "levee" ? bench.levee : peer;
    if (contender === undefined || "missing" in contender) continue;
    const pods = bench.count(wanted.pods);
    const real = await realStorm(bench, contender, { ...wanted, pods });
    bench.say(JSON.stringify({ ...wanted, pods, real }));
  }
  return { name: "sim", title: "", command: "", header: [], rows: [], verdicts: [], notes: [], plots: {}, figures: {} };
}
