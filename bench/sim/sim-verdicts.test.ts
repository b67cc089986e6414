import { describe, expect, test } from "bun:test";
import type { SimCase, SimFigures } from "./real-storm.ts";
import { simVerdict } from "./sim-verdicts.ts";

const levee: SimCase = { label: "Levee", impl: "levee", pods: 219, cutMs: 120_000 };
const multus: SimCase = { ...levee, label: "Multus", impl: "multus-4.2.2" };
const held: SimFigures = {
  attached: 219,
  tookMs: 2_000,
  criticalMs: 60,
  refusals: 0,
  oomKills: 0,
  firstKillMs: undefined,
  daemonCpuMs: 300,
  anonPeakMib: 17,
};
const killed: SimFigures = { ...held, attached: 0, tookMs: undefined, oomKills: 4, firstKillMs: 10_000 };

describe("simVerdict of Levee", () => {
  test.each([
    ["10 % of the time", levee, { tookMs: 2_200 }, true],
    ["more of the time, however short", levee, { tookMs: 2_201 }, false],
    ["50 ms of a wait", levee, { criticalMs: 110 }, true],
    ["more of a wait", levee, { criticalMs: 111 }, false],
    ["a period of the CPU limit", { ...levee, cpuMillis: 100 }, { criticalMs: 160 }, true],
    ["more than a period", { ...levee, cpuMillis: 100 }, { criticalMs: 161 }, false],
    ["the plugins that hang at a time", levee, { refusals: 4 }, true],
    ["more refusals", levee, { refusals: 5 }, false],
    ["a storm that never ends", levee, { tookMs: undefined }, false],
  ])("a difference of %s", (_, wanted, differs, holds) => {
    expect(simVerdict(wanted, [held], { ...held, ...differs }).holds).toBe(holds);
  });

  test.each([
    [1_799, false],
    [1_800, true],
    [3_300, true],
    [3_301, false],
  ])("real runs of 2 s and 3 s, and %d ms in the simulator", (tookMs, holds) => {
    const runs = [held, { ...held, tookMs: 3_000 }];
    expect(simVerdict(levee, runs, { ...held, tookMs })).toMatchObject({
      holds,
      seen: expect.stringContaining("time 2.00 s to 3.00 s / "),
    });
  });

  test("says what counts as equal", () => {
    expect(simVerdict(levee, [held], held).promise).toContain("up to 50 ms count as equal, and up to 4 refusals");
    expect(simVerdict({ ...levee, cpuMillis: 100 }, [held], held).promise).toContain("up to 100 ms count as equal");
  });
});

describe("simVerdict of Multus", () => {
  test.each([
    ["both hold", held, { ...held, tookMs: 9_000, criticalMs: 2_000 }, true],
    ["only one holds", held, killed, false],
    ["a critical pod waits longer than is promised", held, { ...held, criticalMs: 3_001 }, false],
    ["a critical pod is never attached", held, { ...held, criticalMs: undefined }, false],
    ["killed 30 % later", killed, { ...killed, firstKillMs: 13_000 }, true],
    ["killed later still", killed, { ...killed, firstKillMs: 13_001 }, false],
    ["only one is killed, and neither holds", killed, { ...killed, oomKills: 0, firstKillMs: undefined }, false],
  ])("%s", (_, real, model, holds) => {
    expect(simVerdict(multus, [real], model).holds).toBe(holds);
  });

  test("real runs of which one holds and one was killed leave both open", () => {
    const late = { ...killed, firstKillMs: 90_000 };
    expect(simVerdict(multus, [killed, held], held).holds).toBe(true);
    expect(simVerdict(multus, [killed, held], late)).toMatchObject({
      holds: true,
      seen: "does not hold or holds / does not hold, first kill 10.00 s to never / 90.00 s",
    });
    expect(simVerdict(multus, [killed, held], { ...killed, firstKillMs: 6_900 }).holds).toBe(false);
  });

  test("says the verdicts, and when the kernel killed first", () => {
    expect(simVerdict(multus, [killed], held).seen).toBe("does not hold / holds, first kill 10.00 s / never");
  });
});
