import type { MachineFacts } from "./report/certificate.ts";
import type { PodProgress } from "./fleet.ts";
import { readPlan, stormDefaults, type StormPlan } from "./plan.ts";
import type { Moment } from "./series.ts";
import { site } from "./site.ts";
import { judgeStorm, type StormFacts, type StormRun } from "./verdict.ts";

const mib = 1024 ** 2;
const noTraces = { leases: 0, ports: 0, interfaces: 0, journalRecords: 0, journalLeaks: 0 };

export const testPlan: StormPlan = { ...readPlan({ ...stormDefaults, second: "2", pods: "4" }) };

export const testNode: MachineFacts = {
  levee: "levee 1.2.3",
  wallMs: 0,
  host: "node-<1>",
  kernel: "6.1",
  cores: 2,
  processor: "a processor",
  memoryBytes: 8 * 1024 ** 3,
  readAheadKib: 128,
  nodeReadAheadKib: 128,
  hasOwnDisk: false,
  cgroupVersion: 2,
  load: 0.5,
};

export function testRecord(namespace: string, waitMs: number | undefined, errors: readonly string[] = []): PodProgress {
  return {
    pod: { namespace, name: "pod-1", uid: "u" },
    phase: waitMs === undefined ? "waiting" : "attached",
    arrivedMs: 100,
    attachedMs: waitMs === undefined ? undefined : 100 + waitMs,
    deletedMs: undefined,
    attempts: 1,
    errors: errors.map((message) => ({ atMs: 0, message })),
    delErrors: [],
  };
}

function testMoment(atMs: number, attached: number): Moment {
  return {
    atMs,
    attached,
    waiting: 4 - attached,
    backingOff: 0,
    secondAttached: 0,
    secondWaiting: 2,
    usageBytes: 40 * mib,
    workingBytes: 30 * mib,
    anonBytes: 12 * mib,
    cpuMs: atMs / 4,
    isDaemonUp: true,
  };
}

/** A storm of four and two pods that held, except for `changes`. */
export function testFacts(changes: Partial<StormFacts> = {}): StormFacts {
  const { burst, second } = site.namespaces;
  return {
    plan: testPlan,
    records: [
      ...[400, 100, 300, 200].map((waitMs) => testRecord(burst, waitMs)),
      ...[50, 70].map((waitMs) => testRecord(second, waitMs)),
    ],
    moments: [testMoment(0, 0), testMoment(200, 2), testMoment(400, 4)],
    shims: { processes: 5, pssBytes: 3 * mib, anonBytes: mib },
    peakBytes: 45 * mib,
    oomKills: 0,
    restarts: 0,
    ends: [],
    attachedTraces: { ...noTraces, interfaces: 12 },
    deletedTraces: noTraces,
    deleteMs: 250,
    tidyMs: 300,
    notDeleted: 0,
    ...changes,
  };
}

export function testRun(changes: Partial<StormFacts> = {}): StormRun {
  return judgeStorm(testFacts(changes));
}

export { noTraces };
