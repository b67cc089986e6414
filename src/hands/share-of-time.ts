/** Enough for a plugin's DEL on a busy node. The rest of the time may go to one plugin that is slow. */
const reservedMs = 5_000;

/**
 * The part of `leftMs` that one run may take when `after` others are still to come. Each of those keeps `reservedMs`, or
 * an equal part when there is not enough for all, so a run that hangs takes no other's time.
 */
export function shareMs(leftMs: number, after: number): number {
  return Math.max(leftMs - after * reservedMs, leftMs / (after + 1));
}
