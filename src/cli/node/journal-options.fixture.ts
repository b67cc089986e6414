import { systemClock } from "../../base/clock.ts";
import { silentLogger } from "../../base/log.ts";
import type { JournalOptions } from "../../state/journal/journal.ts";
import { bootId } from "../../state/journal/record.fixture.ts";

/** Options for a journal as a real daemon writes it. */
export function journalOptions(stateDir: string): JournalOptions {
  return { stateDir, bootId, clock: systemClock, logger: silentLogger };
}
