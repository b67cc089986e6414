import { systemClock } from "./clock.ts";

const lookMs = 5;

/** Waits until the condition holds; fails with what was waited for. */
export async function until(what: string, isSo: () => boolean | Promise<boolean>, limitMs = 10_000): Promise<void> {
  const endMs = systemClock.monotonicMs() + limitMs;
  while (!(await isSo())) {
    if (systemClock.monotonicMs() > endMs) throw new Error(`Waited ${limitMs} ms in vain until ${what}`);
    await systemClock.sleep(lookMs);
  }
}
