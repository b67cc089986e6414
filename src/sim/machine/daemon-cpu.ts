import type { SimTime } from "../time/sim-time.ts";
import type { SimCores } from "./sim-cores.ts";

interface Work {
  leftMs: number;
  readonly done: () => void;
}

/** The kernel's period of a CPU limit. */
const periodMs = 100;

interface DaemonCpuNeeds {
  readonly time: SimTime;
  readonly cores: SimCores;
  /** The limit in thousandths of a core; undefined for none. */
  readonly cpuMillis: number | undefined;
}

/**
 * The one thread of a daemon: what comes is worked off in order. With a limit it gets its share of each period, and stands
 * still for the rest of it. Other threads of it use that share, too.
 */
export class DaemonCpu {
  readonly #needs: DaemonCpuNeeds;
  readonly #waiting: Work[] = [];
  #isBusy = false;
  #isEnded = false;
  #period = -1;
  #leftMs = 0;
  usedMs = 0;

  constructor(needs: DaemonCpuNeeds) {
    this.#needs = needs;
  }

  run(cpuMs: number, done: () => void): void {
    this.#waiting.push({ leftMs: cpuMs, done });
    this.#next();
  }

  /** Work of other threads, for which the first one does not wait. */
  aside(cpuMs: number): void {
    if (cpuMs <= 0 || this.#isEnded) return;
    this.#allowance();
    this.#leftMs -= cpuMs;
    this.usedMs += cpuMs;
    this.#needs.cores.run(cpuMs, () => undefined);
  }

  /** The process is gone, with everything that it had still to do. */
  end(): void {
    this.#isEnded = true;
    this.#waiting.length = 0;
  }

  #next(): void {
    const [work] = this.#waiting;
    if (this.#isBusy || this.#isEnded || work === undefined) return;
    this.#isBusy = true;
    const mayMs = this.#allowance();
    if (mayMs <= 0) return this.#sleep();
    const sliceMs = Math.min(work.leftMs, mayMs);
    this.#needs.cores.run(sliceMs, () => {
      this.#leftMs -= sliceMs;
      this.usedMs += sliceMs;
      work.leftMs -= sliceMs;
      this.#isBusy = false;
      if (this.#isEnded) return;
      if (work.leftMs <= 1e-9) {
        this.#waiting.shift();
        work.done();
      }
      this.#next();
    });
  }

  #allowance(): number {
    const { time, cpuMillis } = this.#needs;
    if (cpuMillis === undefined) return Number.POSITIVE_INFINITY;
    const period = Math.floor(time.nowMs / periodMs);
    const shareMs = (cpuMillis / 1_000) * periodMs;
    // What several threads used beyond the share is missing later.
    if (period !== this.#period) this.#leftMs = Math.min(shareMs, this.#leftMs + (period - this.#period) * shareMs);
    this.#period = period;
    // Less than a microsecond is nothing that the clock could show.
    return this.#leftMs < 0.001 ? 0 : this.#leftMs;
  }

  #sleep(): void {
    const { time } = this.#needs;
    time.after((this.#period + 1) * periodMs - time.nowMs, () => {
      this.#isBusy = false;
      this.#next();
    });
  }
}
