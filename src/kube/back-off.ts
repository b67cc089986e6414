import type { Clock } from "../base/clock.ts";

export interface BackOffBounds {
  /** The bound of the first pause; it doubles with every failure. */
  readonly firstMs: number;
  readonly longestMs: number;
  /** The pause that the server asked for (`Retry-After`). The jitter is added to it. */
  readonly afterMs?: number | undefined;
}

/**
 * How long to pause after this number of consecutive failures (from 1). Full jitter: any time up to the bound, so that a
 * thousand nodes do not come back together.
 */
export function backOffMs(clock: Pick<Clock, "random">, failures: number, bounds: BackOffBounds): number {
  // The exponent is limited, so that the bound cannot overflow.
  const doublings = Math.min(Math.max(failures - 1, 0), 30);
  const boundMs = Math.min(bounds.longestMs, bounds.firstMs * 2 ** doublings);
  return (bounds.afterMs ?? 0) + clock.random() * boundMs;
}
