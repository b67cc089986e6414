import type { Clock } from "../../base/clock.ts";

/** Longer than printing all metrics takes, shorter than anybody asks again. */
const freshMs = 100;

/** Reads once for all gauges that show a part of it. */
export function oncePerScrape<T>(clock: Clock, read: () => T): () => T {
  let kept: { readonly value: T; readonly atMs: number } | undefined;
  return () => {
    const atMs = clock.monotonicMs();
    if (kept === undefined || atMs - kept.atMs > freshMs) kept = { value: read(), atMs };
    return kept.value;
  };
}
