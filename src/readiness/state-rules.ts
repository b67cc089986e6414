import { failed, passed, warned, type Check } from "./check.ts";

/** The state of the journal. */
export interface JournalFacts {
  /** Why the journal would refuse the next ADD; undefined when it would not. */
  readonly unwritable: string | undefined;
  /** How long the current trial write has taken so far; 0 when there is none. */
  readonly stuckMs: number;
  /** Entries that are only in memory, because the disk refused them. */
  readonly unwritten: number;
  readonly quarantined: number;
  readonly leaks: number;
  readonly attachments: number;
}

/** A slow disk must not cause a restart, which would have to read the journal from the same disk. */
const journalStuckMsMax = 120_000;
/** Long enough for a busy disk, short enough to stop a rollout. */
const journalSlowMsMax = 15_000;

export function journalCheck(facts: JournalFacts): Check {
  const hint = "free space in the state folder, or repair its disk; DELs still work, new attachments are refused";
  if (facts.unwritable !== undefined) return failed("journal", `${facts.unwritable}${unwrittenText(facts)}`, hint);
  if (facts.stuckMs > journalSlowMsMax)
    return failed("journal", `a write has been under way for ${Math.round(facts.stuckMs / 1_000)} s`, hint);
  return passed("journal", `${facts.attachments} ${facts.attachments === 1 ? "attachment" : "attachments"}`);
}

function unwrittenText({ unwritten }: JournalFacts): string {
  if (unwritten === 0) return "";
  return `; ${unwritten} ${unwritten === 1 ? "entry is" : "entries are"} only in memory until then`;
}

/** For liveness: after this time only a restart may help the writer. */
export function isJournalStuck({ stuckMs }: Pick<JournalFacts, "stuckMs">): boolean {
  return stuckMs > journalStuckMsMax;
}

export function quarantineCheck({ quarantined }: Pick<JournalFacts, "quarantined">): Check {
  if (quarantined === 0) return passed("quarantine", "no damaged records");
  return warned(
    "quarantine",
    `${quarantined} damaged ${quarantined === 1 ? "record was" : "records were"} put aside: a DEL that finds no record rebuilds it`,
    "levee leaks names the files; the warning ends after a day, or an hour after a reboot",
  );
}

export function leaksCheck({ leaks }: Pick<JournalFacts, "leaks">): Check {
  if (leaks === 0) return passed("leaks", "nothing is left behind");
  return warned(
    "leaks",
    `${leaks} ${leaks === 1 ? "thing" : "things"} could not be undone yet`,
    "levee leaks lists them with the reason; the resident hand tries again",
  );
}
