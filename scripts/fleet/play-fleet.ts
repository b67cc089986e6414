import { fork, type ChildProcess } from "node:child_process";
import { join } from "node:path";
import { cohortsOf } from "../../src/sim/fleet/play-cohort.ts";
import type { FleetPlan } from "../../src/sim/fleet/fleet-plan.ts";
import { addTally, emptyTally, type FleetTally } from "../../src/sim/fleet/fleet-tally.ts";
import { peakBytes } from "./peak-bytes.ts";

/** One more node of a cohort is done, and what its process has used so far. */
interface NodeDone {
  readonly cpuMs: number;
  readonly peakBytes: number;
}

/** A cohort's end. */
interface CohortDone extends NodeDone {
  readonly tally: FleetTally;
}

/** What a process tells while it plays a cohort. */
export type CohortNews = NodeDone | CohortDone;

export interface FleetRun {
  readonly tally: FleetTally;
  readonly cpuMs: number;
  /** The peaks of all processes, added up although they need not come at one instant. */
  readonly rssBytesMax: number;
}

export interface FleetWatch {
  nodeDone(): void;
  cohortDone(): void;
}

/**
 * Plays all cohorts in some processes. Which process plays which makes no difference to the result. When it is interrupted,
 * the result has the cohorts that are done.
 */
export async function playFleet(
  plan: FleetPlan,
  workers: number,
  watch: FleetWatch,
  interrupted?: AbortSignal,
): Promise<FleetRun> {
  const cohorts = cohortsOf(plan);
  const waiting = Array.from({ length: cohorts }, (_, number) => number);
  const tally = emptyTally();
  const early = new Promise<undefined>((resolve) => {
    if (interrupted?.aborted === true) resolve(undefined);
    interrupted?.addEventListener("abort", () => resolve(undefined), { once: true });
  });
  const lane = async (): Promise<NodeDone> => {
    const child = fork(join(import.meta.dirname, "cohorts-process.ts"), [], { execPath: process.execPath });
    let used: NodeDone = { cpuMs: 0, peakBytes: 0 };
    const nodeDone = (news: NodeDone): void => {
      used = news;
      watch.nodeDone();
    };
    try {
      for (let cohort = waiting.shift(); cohort !== undefined; cohort = waiting.shift()) {
        const done = await Promise.race([played(child, { plan, cohort }, nodeDone), early]);
        if (done === undefined) break;
        addTally(tally, done.tally);
        used = done;
        watch.cohortDone();
      }
    } finally {
      child.kill();
    }
    return used;
  };
  const used = await Promise.all(Array.from({ length: Math.min(workers, cohorts) }, lane));
  return {
    tally,
    cpuMs: used.reduce((sum, one) => sum + one.cpuMs, 0),
    rssBytesMax: used.reduce((sum, one) => sum + one.peakBytes, peakBytes()),
  };
}

interface CohortOrder {
  readonly plan: FleetPlan;
  readonly cohort: number;
}

function played(child: ChildProcess, order: CohortOrder, nodeDone: (news: NodeDone) => void): Promise<CohortDone> {
  return new Promise((resolve, reject) => {
    const onEnd = (code: number | null): void =>
      reject(new Error(`Cannot play cohort ${order.cohort}: its process ended with ${code}`));
    const onNews = (news: CohortNews): void => {
      if (!("tally" in news)) return nodeDone(news);
      child.off("exit", onEnd);
      child.off("message", onNews);
      resolve(news);
    };
    child.once("exit", onEnd);
    child.on("message", onNews);
    child.send(order);
  });
}
