import type { World } from "../world.ts";

/** Between two looks: each reads most of the cluster. */
const againMs = 5_000;

/** Looks, and again until it is well or the time is over. The last look counts. */
export async function untilWell<T>(
  world: World,
  waitMs: number,
  { look, isWell }: { readonly look: () => Promise<T>; readonly isWell: (seen: T) => boolean },
): Promise<T> {
  const endMs = world.clock.monotonicMs() + waitMs;
  let seen = await look();
  while (!isWell(seen) && world.clock.monotonicMs() < endMs) {
    await world.clock.sleep(Math.min(againMs, Math.max(0, endMs - world.clock.monotonicMs())), world.interrupted);
    world.interrupted.throwIfAborted();
    seen = await look();
  }
  return seen;
}
