import { expect, test } from "bun:test";
import { medianFigures } from "./real-runs.ts";
import type { SimFigures } from "./real-storm.ts";

const figures: SimFigures = {
  attached: 219,
  tookMs: 2_000,
  criticalMs: 212,
  refusals: 0,
  oomKills: 0,
  firstKillMs: undefined,
  daemonCpuMs: 300,
  anonPeakMib: 17,
};

test("medianFigures takes the middle of each figure, and what never happened as the latest", () => {
  const runs = [
    figures,
    { ...figures, tookMs: 5_000, criticalMs: 360, refusals: 2 },
    { ...figures, tookMs: undefined, criticalMs: 100, firstKillMs: 900 },
  ];
  expect(medianFigures(runs)).toEqual({ ...figures, tookMs: 5_000 });
  expect(medianFigures([figures, { ...figures, tookMs: undefined }])).toEqual({ ...figures, tookMs: undefined });
});
