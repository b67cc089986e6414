/** Waits until `look` finds something; fails with what was waited for and what was seen last. */
export async function until<T>(
  what: string,
  look: () => Promise<T | undefined> | T | undefined,
  options: { readonly timeoutMs?: number; readonly everyMs?: number } = {},
): Promise<T> {
  const { timeoutMs = 60_000, everyMs = 100 } = options;
  const endsMs = performance.now() + timeoutMs;
  let lastTrouble = "";
  for (;;) {
    try {
      const found = await look();
      if (found !== undefined) return found;
    } catch (thrown) {
      if (thrown instanceof Hopeless) throw thrown;
      lastTrouble = `; last trouble: ${thrown instanceof Error ? thrown.message : String(thrown)}`;
    }
    if (performance.now() > endsMs) throw new Error(`Waited ${timeoutMs} ms in vain until ${what}${lastTrouble}`);
    await pause(everyMs);
  }
}

/** Thrown by a look that knows that waiting is of no use. */
export class Hopeless extends Error {}

/** Times in Kubernetes objects are whole seconds: what comes after a moment is later only in the next second. */
export async function untilNextSecond(): Promise<void> {
  const second = Math.floor(Date.now() / 1000);
  await until("the next second has begun", () => Math.floor(Date.now() / 1000) > second || undefined, { everyMs: 20 });
}

export function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
