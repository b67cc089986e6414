import type { Clock } from "../base/clock.ts";

interface BackOffBounds {
  /** The bound of the first pause; it doubles with every failure. */
  readonly firstMs: number;
  readonly longestMs: number;
  /** What the server asked for (`Retry-After`): the jitter comes on top of it. */
  readonly afterMs?: number | undefined;
}

/**
 * How long to stay away after so many failures in a row (from 1). Full jitter: any moment up to the bound, so that a
 * thousand nodes do not come back together.
 */
export function backOffMs(clock: Pick<Clock, "random">, failures: number, bounds: BackOffBounds): number {
  // The power is kept small: a bound that overflows would be no bound.
  const doublings = Math.min(Math.max(failures - 1, 0), 30);
  const boundMs = Math.min(bounds.longestMs, bounds.firstMs * 2 ** doublings);
  return (bounds.afterMs ?? 0) + clock.random() * boundMs;
}
