import type { LogFile } from "../files/log-file.ts";
import type { Reserve } from "../files/reserve.ts";
import type { JournalState } from "./journal-state.ts";

/** In a smaller journal a rewrite costs more than the dead bytes. */
const compactAboveBytes = 1_048_576;
/** On a full disk every block counts. */
const compactFullAboveBytes = 16_384;

interface CompactionParts {
  readonly log: Pick<LogFile, "size">;
  readonly reserve: Pick<Reserve, "held">;
  readonly state: Pick<JournalState, "liveBytes">;
}

/** When a rewrite pays: half of the journal is dead. */
export class Compaction {
  readonly #parts: CompactionParts;
  #againAboveBytes = 0;
  /** Rewrites so far. */
  count = 0;

  constructor(parts: CompactionParts) {
    this.#parts = parts;
  }

  get isDue(): boolean {
    const { state, log, reserve } = this.#parts;
    const aboveBytes = Math.max(reserve.held ? compactAboveBytes : compactFullAboveBytes, this.#againAboveBytes);
    return log.size > aboveBytes && state.liveBytes * 2 < log.size;
  }

  worked(): void {
    this.#againAboveBytes = 0;
  }

  /** Waits until the journal has grown by a quarter, because a full disk stays full for a while. */
  failed(): void {
    this.#againAboveBytes = this.#parts.log.size * 1.25;
  }
}
