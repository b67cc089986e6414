import { expect, test } from "bun:test";
import { defaultModel } from "../machine/default-model.ts";
import { mibBytes } from "../machine/sim-machine.ts";
import type { MachineModel } from "../machine/machine-model.ts";
import { fitModel, fittedText, simulated, type MeasuredStorm } from "./fit-model.ts";

const limits = { limitBytes: 50 * mibBytes, cpuMillis: undefined };
const nothing = { limits, tookMs: 0, daemonCpuMs: 0, anonPeakBytes: 0 };

/** One after the other: the simulated world has one clock. */
async function stormsOn(model: MachineModel, sizes: readonly number[]): Promise<readonly MeasuredStorm[]> {
  const storms: MeasuredStorm[] = [];
  for (const pods of sizes) storms.push(await simulated(model, { ...nothing, pods }));
  return storms;
}

test("fitModel finds the constants of another machine from three storms on it", async () => {
  const other = {
    ...defaultModel,
    pluginCpuMs: 9,
    pluginCpuPerPodUs: 60,
    floodCpuPerPodUs: 90,
    daemon: { ...defaultModel.daemon, messageCpuMs: 0.6, collectCpuPerPodUs: 4, baseMib: 20, callKib: 20 },
  };
  const storms = await stormsOn(other, [20, 60, 250]);
  const fitted = (await fitModel(defaultModel, storms)) ?? defaultModel;
  // Nothing else is changed, and these are.
  const { multus, cores, spawnCpuMs, shimCpuMs } = defaultModel;
  expect(fitted).toMatchObject({ multus, cores, spawnCpuMs, shimCpuMs });
  for (const constant of fittedText(fitted).split(", "))
    expect(fittedText(defaultModel).split(", ")).not.toContain(constant);
  // The test is a storm that it has not seen.
  const unseen = await simulated(other, { ...nothing, pods: 200 });
  const guess = await simulated(fitted, { ...nothing, pods: 200 });
  expect(guess.tookMs / unseen.tookMs).toBeWithin(0.9, 1.1);
  expect(guess.daemonCpuMs / unseen.daemonCpuMs).toBeWithin(0.9, 1.1);
  expect(guess.anonPeakBytes / unseen.anonPeakBytes).toBeWithin(0.9, 1.1);
}, 120_000);

test("fitModel with two storms leaves the kernel's flood as it is", async () => {
  const other = { ...defaultModel, pluginCpuPerPodUs: 60 };
  const storms = await stormsOn(other, [20, 60]);
  const fitted = await fitModel(defaultModel, storms);
  expect(fitted?.floodCpuPerPodUs).toBe(defaultModel.floodCpuPerPodUs);
  expect(fitted?.pluginCpuPerPodUs).toBeWithin(50, 70);
}, 60_000);

test("fitModel without storms changes nothing", async () => {
  expect(await fitModel(defaultModel, [])).toEqual(defaultModel);
});

test("fitModel ends at once when it is interrupted, without a model", async () => {
  const storm = { ...nothing, pods: 200, tookMs: 2_000, daemonCpuMs: 900, anonPeakBytes: 20 * mibBytes };
  let asked = 0;
  const model = await fitModel(defaultModel, [storm], () => (asked += 1) > 100);
  expect(model).toBeUndefined();
  expect(asked).toBeLessThan(200);
}, 60_000);
