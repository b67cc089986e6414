import type { CpuGroup } from "../machine/cpu-group.ts";

/** A program's few threads: of the work beyond them, what came last is next, as in a scheduler of Go. */
export class Threads {
  readonly #count: number;
  readonly #group: CpuGroup;
  readonly #waiting: (() => void)[] = [];
  #busy = 0;
  #isEnded = false;

  constructor(count: number, group: CpuGroup) {
    this.#count = count;
    this.#group = group;
  }

  run(cpuMs: number, done: () => void): void {
    const begin = (): void => {
      this.#busy += 1;
      this.#group.run(cpuMs, () => {
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
