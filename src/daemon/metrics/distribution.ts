/** One series of a histogram: counts of values by upper bound. */
export class Distribution {
  readonly #bounds: readonly number[];
  /** One per bound, and one for values above the last. */
  readonly #counts: Float64Array;
  #sum = 0;
  #count = 0;

  constructor(bounds: readonly number[]) {
    this.#bounds = bounds;
    this.#counts = new Float64Array(bounds.length + 1);
  }

  get sum(): number {
    return this.#sum;
  }

  get count(): number {
    return this.#count;
  }

  add(value: number): void {
    const bounds = this.#bounds;
    let at = 0;
    while (at < bounds.length && value > (bounds[at] ?? 0)) at += 1;
    this.#counts[at] = (this.#counts[at] ?? 0) + 1;
    this.#sum += value;
    this.#count += 1;
  }

  /** Prometheus wants each bucket to include the ones below it. */
  cumulative(): readonly { readonly bound: number; readonly count: number }[] {
    let count = 0;
    return [...this.#bounds, Number.POSITIVE_INFINITY].map((bound, index) => {
      count += this.#counts[index] ?? 0;
      return { bound, count };
    });
  }
}
