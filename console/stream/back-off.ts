const firstMs = 500;
/** Long enough to leave a server alone, short enough for a wall that nobody touches. */
const longestMs = 30_000;

/** How long to wait before the next attempt: twice as long each time, with full jitter, so that tabs do not march in step. */
export function backOffMs(failures: number, random: number): number {
  const ceiling = Math.min(longestMs, firstMs * 2 ** Math.min(failures, 20));
  return Math.round(firstMs / 2 + random * (ceiling - firstMs / 2));
}
