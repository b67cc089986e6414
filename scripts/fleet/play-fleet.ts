import { fork, type ChildProcess } from "node:child_process";
import { join } from "node:path";
import { cohortsOf } from "../../src/sim/fleet/play-cohort.ts";
import type { FleetPlan } from "../../src/sim/fleet/fleet-plan.ts";
import { addTally, emptyTally, type FleetTally } from "../../src/sim/fleet/fleet-tally.ts";

/** A cohort's end, and what its process has used so far. */
export interface CohortDone {
  readonly tally: FleetTally;
  readonly cpuMs: number;
  readonly rssBytes: number;
}

export interface FleetRun {
  readonly tally: FleetTally;
  readonly cpuMs: number;
  readonly rssBytesMax: number;
}

/**
 * Plays all cohorts in some processes. Which process plays which makes no difference to the result. When it is interrupted,
 * the result has the cohorts that are done.
 */
export async function playFleet(
  plan: FleetPlan,
  workers: number,
  onCohort: (done: number, of: number) => void,
  interrupted?: AbortSignal,
): Promise<FleetRun> {
  const cohorts = cohortsOf(plan);
  const waiting = Array.from({ length: cohorts }, (_, number) => number);
  const tally = emptyTally();
  const early = new Promise<undefined>((resolve) => {
    if (interrupted?.aborted === true) resolve(undefined);
    interrupted?.addEventListener("abort", () => resolve(undefined), { once: true });
  });
  const lane = async (): Promise<{ cpuMs: number; rssBytes: number }> => {
    const child = fork(join(import.meta.dirname, "cohorts-process.ts"), [], { execPath: process.execPath });
    let [cpuMs, rssBytes] = [0, 0];
    try {
      for (let cohort = waiting.shift(); cohort !== undefined; cohort = waiting.shift()) {
        const done = await Promise.race([played(child, plan, cohort), early]);
        if (done === undefined) break;
        addTally(tally, done.tally);
        cpuMs = done.cpuMs;
        rssBytes = Math.max(rssBytes, done.rssBytes);
        onCohort(cohorts - waiting.length, cohorts);
      }
    } finally {
      child.kill();
    }
    return { cpuMs, rssBytes };
  };
  const used = await Promise.all(Array.from({ length: Math.min(workers, cohorts) }, lane));
  return {
    tally,
    cpuMs: used.reduce((sum, one) => sum + one.cpuMs, 0),
    rssBytesMax: used.reduce((sum, one) => sum + one.rssBytes, 0),
  };
}

function played(child: ChildProcess, plan: FleetPlan, cohort: number): Promise<CohortDone> {
  return new Promise((resolve, reject) => {
    const onEnd = (code: number | null): void =>
      reject(new Error(`Cannot play cohort ${cohort}: its process ended with ${code}`));
    child.once("exit", onEnd);
    child.once("message", (done: CohortDone) => {
      child.off("exit", onEnd);
      resolve(done);
    });
    child.send({ plan, cohort });
  });
}
