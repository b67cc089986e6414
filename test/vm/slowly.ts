import { say } from "../e2e/say.ts";
import { Hopeless, until } from "../e2e/until.ts";

/** Longest for something that a real node does in seconds. */
export const slowMs = 600_000;
/** A person who watches learns that the run still waits, and for what. */
const wordEveryMs = 60_000;

/** Waits as `until` does, but as long as an emulated machine needs, with a word now and then. */
export function slowly<T>(
  what: string,
  look: () => Promise<T | undefined>,
  { timeoutMs = slowMs, everyMs = 2_000 }: { readonly timeoutMs?: number; readonly everyMs?: number } = {},
): Promise<T> {
  let saidMs = performance.now();
  const lookAloud = async (): Promise<T | undefined> => {
    let trouble = "";
    try {
      const found = await look();
      if (found !== undefined) return found;
    } catch (thrown) {
      if (thrown instanceof Hopeless) throw thrown;
      trouble = thrown instanceof Error ? thrown.message : String(thrown);
    }
    if (performance.now() - saidMs > wordEveryMs) {
      saidMs = performance.now();
      say(`still waiting until ${what}${trouble === "" ? "" : `: ${trouble.split("\n")[0] ?? ""}`}`);
    }
    if (trouble !== "") throw new Error(trouble);
    return undefined;
  };
  return until(what, lookAloud, { timeoutMs, everyMs });
}
