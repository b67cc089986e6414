import type { SimStormEnd } from "../../../sim/storm/sim-storm-end.ts";

/** How a storm of so many pods ended. */
export interface Tried {
  readonly holds: boolean;
  /** Why it does not hold; empty when it does. */
  readonly why: string;
}

export interface BreakingPoint {
  /** The largest number that held; 0 when even one pod did not. */
  readonly holds: number;
  /** The smallest number that did not; undefined when the largest that was tried held. */
  readonly breaks: number | undefined;
  readonly why: string;
}

/** Closer than this share of the number is closer than the model is to a real node. */
const closeShare = 0.03;

/** Doubles from `from` until a storm does not hold, and halves the rest. `max` is the largest that is tried. */
export async function breakingPoint(
  { from, max }: { readonly from: number; readonly max: number },
  attempt: (pods: number) => Promise<Tried>,
): Promise<BreakingPoint> {
  let low = 0;
  let high: number | undefined;
  let why = "";
  for (let pods = Math.max(1, Math.min(from, max)); high === undefined && low < max; pods = Math.min(max, 2 * pods)) {
    const tried = await attempt(pods);
    if (tried.holds) low = pods;
    else [high, why] = [pods, tried.why];
  }
  while (high !== undefined && high - low > Math.max(1, high * closeShare)) {
    const middle = Math.floor((low + high) / 2);
    const tried = await attempt(middle);
    if (tried.holds) low = middle;
    else [high, why] = [middle, tried.why];
  }
  return { holds: low, breaks: high, why };
}

/** The smallest limit of those, in order, with which a storm holds; undefined when it holds with none. */
export async function smallestLimit(
  limitsMib: readonly number[],
  holds: (limitMib: number) => Promise<boolean>,
): Promise<number | undefined> {
  let [low, high] = [0, limitsMib.length];
  while (low < high) {
    const middle = Math.floor((low + high) / 2);
    if (await holds(limitsMib[middle] ?? 0)) high = middle;
    else low = middle + 1;
  }
  return limitsMib[low];
}

/** The first reason, which the others follow from. */
export function triedOf({ broken }: Pick<SimStormEnd, "broken">): Tried {
  const kill = broken.find((text) => text.includes("for memory"));
  return { holds: broken.length === 0, why: kill ?? broken[0] ?? "" };
}
