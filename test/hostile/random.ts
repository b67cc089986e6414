/** Random numbers that can be had again: the same seed gives the same run. */
export class Random {
  readonly seed: number;
  #state: number;

  constructor(seed: number) {
    this.seed = seed;
    this.#state = seed >>> 0;
  }

  /** In [0, 1). Mulberry32: small, quick, and good enough to choose bytes with. */
  next(): number {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0;
    let mixed = this.#state;
    mixed = Math.imul(mixed ^ (mixed >>> 15), mixed | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  }

  /** A whole number below `limit`. */
  below(limit: number): number {
    return Math.floor(this.next() * limit);
  }

  pick<T>(list: readonly T[]): T {
    const item = list[this.below(list.length)];
    if (item === undefined) throw new RangeError("Cannot pick from an empty list");
    return item;
  }
}

/** `LEVEE_SEED=…` runs a batch again with the seed a failure named; otherwise every run is the same. */
const seed = Number(process.env["LEVEE_SEED"] ?? 20_260_801);

/**
 * Runs `turns` trials, each with a random source of its own. A failure names the seed with which that one trial can be
 * run again: `LEVEE_SEED=<seed> LEVEE_TURNS=1`.
 */
export function* trials(turns: number): Generator<Random> {
  const count = Number(process.env["LEVEE_TURNS"] ?? turns);
  for (let turn = 0; turn < count; turn += 1) yield new Random((seed + turn * 7_919) >>> 0);
}

/** Runs one trial, and names its seed when it fails. */
export async function trial(random: Random, what: string, body: () => Promise<void> | void): Promise<void> {
  try {
    await body();
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause);
    throw new Error(`${what} failed with LEVEE_SEED=${random.seed} LEVEE_TURNS=1: ${why}`, { cause });
  }
}

/** So many trials at a time, for those that wait for other processes. */
export async function inParallel(
  list: Iterable<Random>,
  width: number,
  run: (random: Random) => Promise<void>,
): Promise<void> {
  const rest = list[Symbol.iterator]();
  const lane = async (): Promise<void> => {
    for (let next = rest.next(); next.done !== true; next = rest.next()) await run(next.value);
  };
  await Promise.all(Array.from({ length: width }, lane));
}
