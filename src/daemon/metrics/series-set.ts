import { labelText } from "./metrics-text.ts";

/** One series of a family. Its labels are printed once and kept as text. */
export interface Labelled<S> {
  readonly values: readonly string[];
  readonly text: string;
  readonly series: S;
}

interface Branch<S> {
  readonly next: Map<string, Branch<S>>;
  leaf: Labelled<S> | undefined;
}

interface SeriesOptions<S> {
  readonly labels: readonly string[];
  /** One namespace or one network must not fill the daemon's memory with series. */
  readonly seriesMax: number;
  readonly make: () => S;
}

/** The series of a family by label values. Finding an existing one builds no text, because a storm counts a lot. */
export class SeriesSet<S> {
  readonly #options: SeriesOptions<S>;
  readonly #root: Branch<S> = { next: new Map(), leaf: undefined };
  readonly #all: Labelled<S>[] = [];

  constructor(options: SeriesOptions<S>) {
    this.#options = options;
  }

  /** In the order of their first use. */
  get all(): readonly Labelled<S>[] {
    return this.#all;
  }

  /** Undefined when the family is full. */
  find(values: readonly string[]): S | undefined {
    let branch = this.#root;
    for (const value of values) {
      const next = branch.next.get(value);
      if (next === undefined) return this.#grow(values);
      branch = next;
    }
    return branch.leaf === undefined ? this.#grow(values) : branch.leaf.series;
  }

  #grow(values: readonly string[]): S | undefined {
    const { labels, seriesMax, make } = this.#options;
    if (this.#all.length >= seriesMax) return undefined;
    let branch = this.#root;
    for (const value of values) {
      const next = branch.next.get(value) ?? { next: new Map(), leaf: undefined };
      branch.next.set(value, next);
      branch = next;
    }
    const leaf = { values, text: labelText(labels, values), series: make() };
    branch.leaf = leaf;
    this.#all.push(leaf);
    return leaf.series;
  }
}
