import { describe, expect, test } from "bun:test";
import { noTraces, testFacts, testPlan, testRecord, testRun } from "./run.fixture.ts";
import { site } from "./site.ts";
import { judgeStorm } from "./verdict.ts";

const { burst, second } = site.namespaces;

describe("judgeStorm", () => {
  test("finds nothing broken in a storm that held, and sums it up", () => {
    expect(testRun()).toMatchObject({
      broken: [],
      tookMs: 400,
      burst: { pods: 4, attached: 4, medianMs: 200, maxMs: 400 },
      second: { pods: 2, attached: 2, medianMs: 50, maxMs: 70 },
      failedAdds: 0,
      peakWorkingBytes: 30 * 1024 ** 2,
      peakAnonBytes: 12 * 1024 ** 2,
      daemonCpuMs: 100,
    });
  });

  test.each([
    [{ oomKills: 1 }, "the kernel killed 1 time for memory"],
    [{ ends: ["signal SIGKILL", "status 1"] }, "the daemon ended 2 times (signal SIGKILL)"],
    [{ notDeleted: 3 }, "3 pods could not be deleted"],
    [{ attachedTraces: { ...noTraces, interfaces: 11 } }, "6 attached pods had 11 interfaces, not 12"],
    [{ deletedTraces: { ...noTraces, leases: 2, ports: 1 } }, "left behind: 2 booked addresses"],
    [{ deletedTraces: { ...noTraces, journalLeaks: 2 } }, "left behind: 2 leaks in the journal"],
    [
      { plan: { ...testPlan, second: { ...testPlan.second, withinMs: 60 } } },
      "a pod of the second namespace waited 70 ms, longer than 60 ms",
    ],
  ])("says what did not hold: %j", (changes, text) => {
    expect(judgeStorm(testFacts(changes)).broken).toContain(text);
  });

  test("counts pods that were never attached, also those that never came", () => {
    const records = [testRecord(burst, 100), testRecord(burst, undefined), testRecord(second, undefined)];
    const run = testRun({ records, attachedTraces: { ...noTraces, interfaces: 2 } });
    expect(run.broken).toEqual([
      "3 of 4 pods were not attached within 3m",
      "2 of 2 pods of the second namespace were not attached within 3m",
    ]);
    expect(run.tookMs).toBeUndefined();
  });

  test("puts errors of one kind together, the most frequent first", () => {
    const wait = (seconds: number): string => `waited ${seconds}.5 s`;
    const records = [
      testRecord(burst, 100, ["no such bridge", wait(1)]),
      testRecord(burst, 100, [wait(15)]),
      testRecord(burst, 100, [wait(9)]),
    ];
    expect(testRun({ records }).errors).toEqual([
      { message: "waited 1.5 s", count: 3 },
      { message: "no such bridge", count: 1 },
    ]);
  });
});
