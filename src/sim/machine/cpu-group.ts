import type { Cancel } from "../../base/clock.ts";
import type { SimCores } from "./sim-cores.ts";

/** The threads of one cgroup on cores that others may share, and the CPU time that they have had together. */
export class CpuGroup {
  readonly #cores: SimCores;
  #threads = 0;
  #usedMs = 0;
  #seenMs = 0;

  constructor(cores: SimCores) {
    this.#cores = cores;
  }

  get usedMs(): number {
    this.#catchUp();
    return this.#usedMs;
  }

  /** Calls `done` when a thread has had this much CPU time. */
  run(cpuMs: number, done: () => void): Cancel {
    this.#change(1);
    let isOver = false;
    const leave = (): void => {
      if (!isOver) this.#change(-1);
      isOver = true;
    };
    const stop = this.#cores.run(cpuMs, () => {
      leave();
      done();
    });
    return () => {
      leave();
      stop();
    };
  }

  #change(threads: number): void {
    this.#catchUp();
    this.#threads += threads;
  }

  #catchUp(): void {
    const { servedMs } = this.#cores;
    this.#usedMs += (servedMs - this.#seenMs) * this.#threads;
    this.#seenMs = servedMs;
  }
}
