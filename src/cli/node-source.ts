import { hasOffline } from "../state/offline-records.ts";
import { readJournalOnly } from "../state/read-only.ts";
import type { AttachmentsAnswer, LeaksAnswer, TimelineAnswer } from "../wire/node-view.ts";
import { isUnreachable } from "./ask.ts";
import { ask, type Context } from "./context.ts";
import { attachmentsOnDisk, leaksOnDisk, timelineOnDisk, type DiskJournal } from "./disk-view.ts";
import { CommandFailure, toFailure } from "./failure.ts";
import type { PodKey } from "./names.ts";

/** An answer and where it is from: a dead daemon must not keep anybody from seeing what is on the node. */
export interface Sourced<T> {
  readonly source: "daemon" | "disk";
  readonly answer: T;
}

export function readAttachments(context: Context, source?: "daemon" | "disk"): Promise<Sourced<AttachmentsAnswer>> {
  const fromDisk = (journal: DiskJournal): AttachmentsAnswer => attachmentsOnDisk(journal);
  return source === "disk"
    ? readDisk(context, fromDisk)
    : daemonOrDisk(context, () => ask(context, { ask: "attachments" }), fromDisk);
}

export function readLeaks(context: Context): Promise<Sourced<LeaksAnswer>> {
  return daemonOrDisk(context, () => ask(context, { ask: "leaks" }), leaksOnDisk);
}

export function readTimeline(context: Context, pod: PodKey): Promise<Sourced<TimelineAnswer>> {
  return daemonOrDisk(
    context,
    () => ask(context, { ask: "timeline", ...pod }),
    (journal) => timelineOnDisk(journal, pod),
  );
}

async function daemonOrDisk<T>(
  context: Context,
  fromDaemon: () => Promise<T>,
  fromDisk: (journal: DiskJournal) => T,
): Promise<Sourced<T>> {
  try {
    return { source: "daemon", answer: await fromDaemon() };
  } catch (error) {
    if (!isUnreachable(error)) throw error;
    const read = await readDisk(context, fromDisk).catch((diskError: unknown) => {
      // Both ways are closed; the daemon's absence is the one to mend, the other goes along.
      const failure = toFailure(error);
      context.world.stderr.write(
        `Note: the journal in ${context.settings.stateDir} cannot be read either: ${toFailure(diskError).message}\n`,
      );
      throw failure;
    });
    context.world.stderr.write(
      `Note: ${toFailure(error).message}. Showing what the journal in ${context.settings.stateDir} says, as of its last write\n`,
    );
    return read;
  }
}

async function readDisk<T>(context: Context, fromDisk: (journal: DiskJournal) => T): Promise<Sourced<T>> {
  const { stateDir } = context.settings;
  const journal = await readJournalOnly(stateDir);
  if (!journal.exists) throw new CommandFailure("state-missing", "there is none, so no daemon has run on that folder");
  return { source: "disk", answer: fromDisk({ ...journal, hasDelete: (name) => hasOffline(stateDir, name) }) };
}
