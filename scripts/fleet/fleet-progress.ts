import type { Cancel, Clock } from "../../src/base/clock.ts";
import { cohortsOf } from "../../src/sim/fleet/play-cohort.ts";
import type { FleetPlan } from "../../src/sim/fleet/fleet-plan.ts";

/** A person waits this long without wondering. */
const quietMs = 2_000;
/** A cohort takes some 20 s, so something is said in between. */
const silenceMs = 5_000;
const lookMs = 500;

/** Says on stderr how far a fleet is: after two seconds, at the end of each cohort, and every five seconds in between. */
export class FleetProgress {
  readonly #plan: FleetPlan;
  readonly #clock: Clock;
  readonly #write: (line: string) => void;
  readonly #beganMs: number;
  #saidMs: number;
  #nodes = 0;
  #cohorts = 0;

  constructor(plan: FleetPlan, clock: Clock, write: (line: string) => void) {
    this.#plan = plan;
    this.#clock = clock;
    this.#write = write;
    this.#beganMs = clock.monotonicMs();
    this.#saidMs = this.#beganMs + quietMs - silenceMs;
  }

  start(): Cancel {
    return this.#clock.every(lookMs, () => {
      if (this.#clock.monotonicMs() - this.#saidMs >= silenceMs) this.#say();
    });
  }

  nodeDone(): void {
    this.#nodes += 1;
  }

  cohortDone(): void {
    this.#cohorts += 1;
    this.#say();
  }

  #say(): void {
    this.#saidMs = this.#clock.monotonicMs();
    const seconds = Math.round((this.#saidMs - this.#beganMs) / 1_000);
    const nodes = `${this.#nodes} of ${this.#plan.nodes} nodes done`;
    this.#write(`${this.#cohorts} of ${cohortsOf(this.#plan)} cohorts and ${nodes}, ${seconds} s\n`);
  }
}
