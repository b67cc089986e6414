import { inParallel, trials, type Random } from "../hostile/random.ts";
import { compare } from "./compare.ts";
import type { Case, Upstream } from "./case.ts";

export type MakeCase = (random: Random, upstream: Upstream) => Case;

/** What a batch found. */
export interface Batch {
  readonly served: number;
  /** How many of those began with a call that went well. */
  readonly good: number;
  readonly left: number;
  /** Each names the seed that shows it again. */
  readonly faults: readonly string[];
}

/** Lines of one fault that are worth reading. */
const linesMax = 12;
/** Half of a case waits for the kernel. */
const lanes = 3;

/**
 * Compares generated cases until the built-in plugin has served so many, of at most twice as many. `LEVEE_TURNS` says how
 * many to generate instead, and `LEVEE_SEED` which.
 */
export async function compareBatch(upstream: Upstream, make: MakeCase, wanted: number): Promise<Batch> {
  const counts = { served: 0, good: 0, left: 0 };
  const faults: string[] = [];
  const free = Array.from({ length: lanes }, (_, at) => `lvb${process.pid}x${at}`);
  await inParallel(trials(2 * wanted), lanes, async (random) => {
    if (counts.served >= wanted) return;
    const lane = free.pop() ?? "";
    const of = make(random, upstream);
    const found = await compare(lane, upstream, of).catch((error: unknown) => ({
      difference: [String(error)],
      isGood: false,
    }));
    free.push(lane);
    counts.left += found === undefined ? 1 : 0;
    counts.served += found === undefined ? 0 : 1;
    counts.good += found?.isGood === true ? 1 : 0;
    const lines = found?.difference.slice(0, linesMax) ?? [];
    if (lines.length > 0)
      faults.push([`LEVEE_SEED=${of.seed} LEVEE_TURNS=1 ${of.plugin}`, JSON.stringify(of), ...lines].join("\n"));
  });
  return { ...counts, faults };
}
