import { expect, test } from "bun:test";
import { defaultModel } from "../../src/sim/machine/default-model.ts";
import { modelStorm } from "./model-storm.ts";

test("modelStorm with a hanging network lasts as long as the real storm, which is cut off", async () => {
  const wanted = { label: "half hang", impl: "levee", pods: 20, hangs: true } as const;
  const refusals = async (cutMs: number): Promise<number> => {
    const { attached, refusals: refused, tookMs } = await modelStorm({ ...wanted, cutMs }, defaultModel);
    expect(attached).toBe(10);
    expect(tookMs).toBeLessThan(5_000);
    return refused;
  };
  // A plugin that hangs fails by its deadline.
  expect(await refusals(5_000)).toBe(0);
  expect(await refusals(40_000)).toBeGreaterThan(0);
}, 60_000);
