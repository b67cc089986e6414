import { hasOffline } from "../../state/journal/offline-records.ts";
import { quarantineFolder } from "../../state/files/quarantine.ts";
import { readJournalOnly } from "../../state/journal/read-only.ts";
import { recorderView } from "../../state/journal/record-view.ts";
import { readStory } from "../../state/recorder/recorder-read.ts";
import { recorderFolder } from "../../state/recorder/recorder-segments.ts";
import type { AttachmentsAnswer, LeaksAnswer, TimelineAnswer } from "../../wire/node-view.ts";
import { askAttachments, askLeaks } from "./ask-pages.ts";
import { isUnreachable } from "./ask.ts";
import { askDaemon, type Context } from "../context.ts";
import { attachmentsOnDisk, leaksOnDisk, timelineOnDisk, type DiskJournal } from "./disk-view.ts";
import { CommandFailure, toFailure } from "../failure.ts";
import type { PodKey } from "./names.ts";

/** An answer and its source. The disk is the source while the daemon is away. */
export interface Sourced<T> {
  readonly source: "daemon" | "disk";
  readonly answer: T;
}

export function readAttachments(context: Context): Promise<Sourced<AttachmentsAnswer>> {
  return daemonOrDisk(context, () => askAttachments(context), attachmentsOnDisk);
}

export function readLeaks(context: Context): Promise<Sourced<LeaksAnswer>> {
  return daemonOrDisk(context, () => askLeaks(context), leaksOnDisk);
}

/** The quarantine folder of the daemon, whose state folder may differ from the settings. */
export async function readQuarantineFolder(context: Context, source: "daemon" | "disk"): Promise<string> {
  const { stateDir } = context.settings;
  if (source === "disk") return quarantineFolder(stateDir);
  // The daemon has just answered. If it is gone now, the settings are the best guess.
  const node = await askDaemon(context, { ask: "node" }).catch(() => ({ stateDir }));
  return quarantineFolder(node.stateDir);
}

/** Pass the source of an earlier answer, so that both come from the same place and the note is printed once. */
export function readTimeline(
  context: Context,
  pod: PodKey,
  source?: "daemon" | "disk",
): Promise<Sourced<TimelineAnswer>> {
  const fromDisk = async (journal: DiskJournal): Promise<TimelineAnswer> => {
    const { entries, omitted } = await readStory(recorderFolder(context.settings.stateDir), pod.namespace, pod.name);
    return timelineOnDisk(journal, pod, { entries: entries.map(recorderView), omitted });
  };
  return source === "disk"
    ? readDisk(context, fromDisk)
    : daemonOrDisk(context, () => askDaemon(context, { ask: "timeline", ...pod }), fromDisk);
}

async function daemonOrDisk<T>(
  context: Context,
  fromDaemon: () => Promise<T>,
  fromDisk: (journal: DiskJournal) => T | Promise<T>,
): Promise<Sourced<T>> {
  try {
    return { source: "daemon", answer: await fromDaemon() };
  } catch (error) {
    if (!isUnreachable(error)) throw error;
    const read = await readDisk(context, fromDisk).catch((diskError: unknown) => {
      // Both ways failed. The daemon's absence is the error to fix; the disk's error is only a note.
      const failure = toFailure(error);
      context.shell.stderr.write(
        `Note: the journal in ${context.settings.stateDir} cannot be read either: ${toFailure(diskError).message}\n`,
      );
      throw failure;
    });
    context.shell.stderr.write(
      `Note: ${toFailure(error).message}. Showing what the journal in ${context.settings.stateDir} says, as of its last write\n`,
    );
    return read;
  }
}

async function readDisk<T>(context: Context, fromDisk: (journal: DiskJournal) => T | Promise<T>): Promise<Sourced<T>> {
  const { stateDir } = context.settings;
  const journal = await readJournalOnly(stateDir);
  if (!journal.exists)
    throw new CommandFailure("state-missing", "there is no journal, so no daemon has run with that folder");
  const answer = await fromDisk({ ...journal, hasDelete: (name) => hasOffline(stateDir, name) });
  return { source: "disk", answer };
}
