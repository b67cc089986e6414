import type { MachineModel } from "../../src/sim/machine/machine-model.ts";
import { cpus } from "node:os";
import { defaultModel } from "../../src/sim/machine/default-model.ts";
import { fitModel, type MeasuredStorm } from "../../src/sim/storm/fit-model.ts";
import type { Bench } from "../bench.ts";
import { mib } from "../storm/meter.ts";
import { usualLimitMib } from "./real-storm.ts";
import { realRuns } from "./real-runs.ts";

/**
 * None of them is compared later. The second is over within a second; the third lasts long enough to show what the kernel
 * adds later.
 */
const sizes = [60, 180, 800] as const;
const cutMs = 120_000;

/** The model with constants that are fitted to real storms of Levee on this ground, in this run. */
export async function fitHere(bench: Bench): Promise<{ model: MachineModel; storms: readonly MeasuredStorm[] }> {
  const storms: MeasuredStorm[] = [];
  for (const size of sizes) {
    const pods = bench.count(size);
    const wanted = {
      label: `Levee, ${pods} pods, to fit the model`,
      impl: "levee",
      pods,
      isAlone: true,
      cutMs,
    } as const;
    const { median } = await realRuns(bench, bench.levee, wanted);
    const { tookMs, daemonCpuMs, anonPeakMib } = median;
    if (tookMs === undefined) throw new Error(`The model cannot be fitted: ${wanted.label} did not attach all pods`);
    const limits = { limitBytes: usualLimitMib * mib, cpuMillis: undefined };
    storms.push({ pods, limits, tookMs, daemonCpuMs, anonPeakBytes: anonPeakMib * mib });
  }
  const model = await fitModel({ ...defaultModel, cores: cpus().length }, storms);
  if (model === undefined) throw new Error("Fitting the model was interrupted");
  return { model, storms };
}
