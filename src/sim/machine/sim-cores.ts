import type { Cancel } from "../../base/clock.ts";
import { decay } from "../../base/exact/decay.ts";
import type { SimTime } from "../time/sim-time.ts";

/** A thread that computes. */
interface Computing {
  /** The share of every thread, summed up, at which this one is done. */
  readonly endsAt: number;
  readonly number: number;
  readonly done: () => void;
}

const averageMs = 10_000;

/** Cores that are shared evenly, as the kernel's scheduler does: each thread has a whole core, or an equal part of all. */
export class SimCores {
  readonly #time: SimTime;
  readonly #count: number;
  /** In the order in which they end. */
  readonly #computing: Computing[] = [];
  /** How much CPU time each thread would have had that was there from the start. */
  #served = 0;
  #servedAtMs = 0;
  #waitedMs = 0;
  #usedMs = 0;
  #stall = 0;
  #numbers = 0;
  #stopTimer: Cancel = () => undefined;

  constructor(time: SimTime, count: number) {
    this.#time = time;
    this.#count = count;
  }

  /** How long some thread has waited for a core so far, as in the kernel's pressure file. */
  get waitedMs(): number {
    this.#catchUp();
    return this.#waitedMs;
  }

  /** CPU time of a thread that was there from the start. */
  get servedMs(): number {
    this.#catchUp();
    return this.#served;
  }

  /** CPU time of all threads so far. */
  get usedMs(): number {
    this.#catchUp();
    return this.#usedMs;
  }

  /** Percent of about the last 10 s in which some thread waited. */
  get stall(): number {
    this.#catchUp();
    return this.#stall;
  }

  /** Calls `done` when a thread has had this much CPU time. */
  run(cpuMs: number, done: () => void): Cancel {
    this.#catchUp();
    const one = { endsAt: this.#served + Math.max(0, cpuMs), number: (this.#numbers += 1), done };
    const at = this.#computing.findIndex(({ endsAt }) => endsAt > one.endsAt);
    this.#computing.splice(at === -1 ? this.#computing.length : at, 0, one);
    this.#wait();
    return () => {
      this.#catchUp();
      const found = this.#computing.indexOf(one);
      if (found === -1) return;
      this.#computing.splice(found, 1);
      this.#wait();
    };
  }

  get #rate(): number {
    return Math.min(1, this.#count / Math.max(1, this.#computing.length));
  }

  #catchUp(): void {
    const ms = this.#time.nowMs - this.#servedAtMs;
    if (ms <= 0) return;
    this.#servedAtMs = this.#time.nowMs;
    this.#served += ms * this.#rate;
    this.#usedMs += ms * Math.min(this.#count, this.#computing.length);
    const waits = this.#computing.length > this.#count;
    if (waits) this.#waitedMs += ms;
    this.#stall += ((waits ? 100 : 0) - this.#stall) * (1 - decay(ms / averageMs));
  }

  #wait(): void {
    this.#stopTimer();
    const [first] = this.#computing;
    if (first === undefined) return;
    const ms = Math.max(0, first.endsAt - this.#served) / this.#rate;
    this.#stopTimer = this.#time.after(ms, () => this.#end(first));
  }

  #end(first: Computing): void {
    this.#catchUp();
    const at = this.#computing.indexOf(first);
    if (at !== -1) this.#computing.splice(at, 1);
    this.#wait();
    first.done();
  }
}
