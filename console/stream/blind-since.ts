import type { ConsoleSource } from "../../src/wire/console-view.ts";

/** When most sources are stale, the server sees nothing new: the time of the oldest of them. Else undefined. */
export function blindSince(sources: readonly ConsoleSource[]): number | undefined {
  const known = sources.filter(({ state }) => state === "live" || state === "stale");
  const stale = known.filter(({ state }) => state === "stale");
  if (stale.length === 0 || stale.length * 2 < known.length) return undefined;
  const times = stale.map(({ asOfMs }) => asOfMs).filter((ms) => ms > 0);
  return times.length === 0 ? undefined : Math.min(...times);
}
