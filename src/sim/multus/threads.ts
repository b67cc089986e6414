import type { SimCores } from "../machine/sim-cores.ts";

/** A program's few threads: of the work beyond them, what came last is next, as in a scheduler of Go. */
export class Threads {
  readonly #count: number;
  readonly #cores: SimCores;
  readonly #waiting: (() => void)[] = [];
  #busy = 0;
  #isEnded = false;

  constructor(count: number, cores: SimCores) {
    this.#count = count;
    this.#cores = cores;
  }

  run(cpuMs: number, done: () => void): void {
    const begin = (): void => {
      this.#busy += 1;
      this.#cores.run(cpuMs, () => {
        this.#busy -= 1;
        if (this.#isEnded) return;
        done();
        this.#waiting.pop()?.();
      });
    };
    if (this.#busy < this.#count) begin();
    else this.#waiting.push(begin);
  }

  end(): void {
    this.#isEnded = true;
    this.#waiting.length = 0;
  }
}
