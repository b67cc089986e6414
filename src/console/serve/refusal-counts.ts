import { oneLine } from "../../base/plain-text.ts";
import { firstChars } from "../../base/short-text.ts";
import type { Logger } from "../../base/log.ts";
import type { RefusalCode } from "./refusal.ts";

/** Enough of a Host or Origin to know it by. */
const seenCharsMax = 120;

/** Counts refusals by their code, and logs the first of each: a page that is refused may ask again a thousand times. */
export class RefusalCounts {
  readonly #logger: Pick<Logger, "warn">;
  readonly #counts = new Map<RefusalCode, number>();

  constructor(logger: Pick<Logger, "warn">) {
    this.#logger = logger;
  }

  /** `seen` is what was refused, such as a host; never a token. */
  add(code: RefusalCode, { peer, seen }: { readonly peer: string; readonly seen: string }): void {
    const before = this.#counts.get(code) ?? 0;
    this.#counts.set(code, before + 1);
    if (before > 0) return;
    this.#logger.warn("A request to the console was refused; more of its kind are only counted", {
      code,
      peer,
      seen: firstChars(oneLine(seen), seenCharsMax),
    });
  }

  all(): ReadonlyMap<RefusalCode, number> {
    return this.#counts;
  }
}
