/** How often a value fell under each bound: one series of a histogram. */
export class Distribution {
  readonly #bounds: readonly number[];
  /** One per bound, and one for what is above the last. */
  readonly #counts: number[];
  #sum = 0;
  #count = 0;

  constructor(bounds: readonly number[]) {
    this.#bounds = bounds;
    this.#counts = Array.from({ length: bounds.length + 1 }, () => 0);
  }

  get sum(): number {
    return this.#sum;
  }

  get count(): number {
    return this.#count;
  }

  add(value: number): void {
    const found = this.#bounds.findIndex((bound) => value <= bound);
    const at = found === -1 ? this.#bounds.length : found;
    this.#counts[at] = (this.#counts[at] ?? 0) + 1;
    this.#sum += value;
    this.#count += 1;
  }

  /** Prometheus counts into every bucket above as well. */
  cumulative(): readonly { readonly bound: number; readonly count: number }[] {
    let count = 0;
    return [...this.#bounds, Number.POSITIVE_INFINITY].map((bound, index) => {
      count += this.#counts[index] ?? 0;
      return { bound, count };
    });
  }
}
