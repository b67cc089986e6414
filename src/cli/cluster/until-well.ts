import type { Shell } from "../shell.ts";

/** The pause between two looks, because each one reads most of the cluster. */
const againMs = 5_000;

/** Looks again until all is well or the time is over. Returns the last look. */
export async function untilWell<T>(
  shell: Shell,
  waitMs: number,
  { look, isWell }: { readonly look: () => Promise<T>; readonly isWell: (seen: T) => boolean },
): Promise<T> {
  const endMs = shell.clock.monotonicMs() + waitMs;
  let seen = await look();
  while (!isWell(seen) && shell.clock.monotonicMs() < endMs) {
    await shell.clock.sleep(Math.min(againMs, Math.max(0, endMs - shell.clock.monotonicMs())), shell.interrupted);
    shell.interrupted.throwIfAborted();
    seen = await look();
  }
  return seen;
}
