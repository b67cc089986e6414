import { describe, expect, test } from "bun:test";
import type { StormFigures } from "../storm/figures.ts";
import {
  growthNote,
  growthVerdicts,
  heldVerdict,
  returnedVerdicts,
  shareVerdicts,
  vitalNotes,
  vitalVerdicts,
} from "./storm-verdicts.ts";

function figures(facts: Partial<StormFigures> = {}): StormFigures {
  return {
    label: "Levee",
    pods: 219,
    attached: 219,
    tookMs: 2_100,
    endedMs: 2_100,
    vitalWaitsMs: [100],
    failedAdds: 0,
    oomKills: 0,
    restarts: 0,
    peakMib: 40,
    anonPeakMib: 14,
    processesMax: 1,
    daemonCpuMs: 438,
    runtimeMib: 60,
    runtimeCpuMs: 4_380,
    firstError: "",
    attachedAtMs: [],
    ...facts,
  };
}

const programs = figures({ label: "Levee, built-ins off", tookMs: 5_000 });
const held = (verdicts: readonly { readonly holds: boolean }[]): readonly boolean[] =>
  verdicts.map(({ holds }) => holds);

test("shareVerdicts hold built-ins and programs to shares of the floor of their own", () => {
  const share = { builtIn: 0.5, programs: 1.25 };
  expect(held(shareVerdicts([figures(), programs], 4_200, share))).toEqual([true, true]);
  expect(held(shareVerdicts([figures(), programs], 4_100, share))).toEqual([false, true]);
  expect(held(shareVerdicts([figures(), programs], 3_900, share))).toEqual([false, false]);
  expect(held(shareVerdicts([figures(), undefined], 4_200, share))).toEqual([true]);
});

test("heldVerdict does not forgive a kill, a restart or a pod that was never attached", () => {
  expect(heldVerdict(figures(), "").holds).toBe(true);
  for (const facts of [{ oomKills: 1 }, { restarts: 1 }, { tookMs: undefined, attached: 218 }])
    expect(heldVerdict(figures(facts), "").holds).toBe(false);
});

describe("returnedVerdicts", () => {
  test("without a share, one ADD that is told to come back is one too many", () => {
    expect(returnedVerdicts([figures(), { ...programs, failedAdds: 1 }], 0)).toEqual([
      { promise: "Levee: no ADD is told to come back", seen: "0 of 219", holds: true },
      { promise: "Levee, built-ins off: no ADD is told to come back", seen: "1 of 220", holds: false },
    ]);
  });

  test("with a share, it counts of all ADDs", () => {
    const large = figures({ pods: 980 });
    expect(
      returnedVerdicts(
        [
          { ...large, failedAdds: 20 },
          { ...large, failedAdds: 21 },
        ],
        0.02,
      ),
    ).toMatchObject([
      { promise: "Levee: at most 2 % of the ADDs are told to come back", holds: true },
      { holds: false },
    ]);
  });
});

test("growthVerdicts hold memory to a sum and CPU to what a pod of the small storm takes", () => {
  const large = figures({ pods: 2_000, anonPeakMib: 26, daemonCpuMs: 5_000, runtimeCpuMs: 50_000 });
  expect(growthVerdicts(large, figures())).toEqual([
    {
      promise: "its peak of anonymous memory is at most 12 MiB above that of 219 pods",
      seen: "26.0 against 14.0 MiB",
      holds: true,
    },
    { promise: "the daemon's CPU per pod is at most 1.25 × that of 219 pods", seen: "2.5 against 2.0 ms", holds: true },
    {
      promise: "the daemon's, the shims' and the plugins' CPU per pod is at most 1.25 × that of 219 pods",
      seen: "27.5 against 22.0 ms",
      holds: true,
    },
  ]);
  const more = { ...large, anonPeakMib: 26.1, daemonCpuMs: 5_001 };
  expect(held(growthVerdicts(more, figures()))).toEqual([false, false, false]);
  const plugins = { ...large, runtimeCpuMs: 50_001 };
  expect(held(growthVerdicts(plugins, figures()))).toEqual([true, true, false]);
});

test("growthNote has the CPU of a pod in each storm, and what the plugins take by themselves", () => {
  const large = figures({ pods: 2_000, daemonCpuMs: 5_000, runtimeCpuMs: 50_000 });
  const floors = [
    { pods: 219, runtimeCpuMs: 2_190 },
    { pods: 2_000, runtimeCpuMs: 40_000 },
  ];
  expect(growthNote([figures(), large], floors)).toBe(
    "CPU per pod of the daemon, the shims and the plugins, with the bench that calls them: 219 pods 22.0 ms (2.0 ms of it the daemon), 2000 pods 27.5 ms (2.5 ms of it the daemon). The delegates alone: 219 pods 10.0 ms, 2000 pods 20.0 ms.",
  );
});

test("vitalVerdicts hold the longest wait of a critical pod, with built-ins and with programs", () => {
  const late = (waitMs: number | undefined): StormFigures => ({ ...programs, vitalWaitsMs: [waitMs, 1] });
  expect(vitalVerdicts([figures({ vitalWaitsMs: [150] }), late(151)], 150)).toEqual([
    {
      promise: "each of the 6 critical pods of another namespace that arrive 2 s in is attached within 0.15 s",
      seen: "longest 0.15 s",
      holds: true,
    },
    {
      promise:
        "each of the 6 critical pods of another namespace that arrive 2 s in, with built-ins off, is attached within 0.15 s",
      seen: "longest 0.15 s",
      holds: false,
    },
  ]);
  expect(held(vitalVerdicts([figures({ vitalWaitsMs: [151] }), late(150)], 150))).toEqual([false, true]);
  expect(held(vitalVerdicts([figures({ vitalWaitsMs: [] }), late(undefined)], 150))).toEqual([false, false]);
  expect(vitalVerdicts([figures(), undefined], 150)).toHaveLength(1);
});

test("vitalNotes say when the storm was over before the critical pods arrived", () => {
  expect(vitalNotes(figures())).toEqual([]);
  expect(vitalNotes(figures({ tookMs: undefined }))).toEqual([]);
  expect(vitalNotes(figures({ tookMs: 1_900 }), programs, undefined)).toEqual([
    expect.stringContaining("Levee had attached all pods after 1.90 s, before the critical ones arrived") as string,
  ]);
});
