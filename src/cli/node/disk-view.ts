import type { AttachmentRecord } from "../../state/journal/attachment-record.ts";
import type { LeakEntry } from "../../state/journal/leak-ledger.ts";
import type { Quarantined } from "../../state/files/quarantine.ts";
import { leakView, quarantineView, recordView } from "../../state/journal/record-view.ts";
import type {
  AttachmentsAnswer,
  AttachmentView,
  LeaksAnswer,
  TimelineAnswer,
  TimelineEntry,
} from "../../wire/node-view.ts";
import type { PodKey } from "./names.ts";

/** The journal as read from disk. */
export interface DiskJournal {
  readonly records: readonly AttachmentRecord[];
  readonly leaks: readonly LeakEntry[];
  readonly quarantined: readonly Quarantined[];
  /** Whether a shim left a delete on disk under this name, for the next daemon. */
  hasDelete(name: string): boolean;
}

/** The file in which a shim keeps a delete while the daemon is away; see docs/protocol.md, "Offline records". */
export function offlineDeleteName(containerId: string, ifname: string): string {
  return `${containerId}:${ifname}.del`;
}

/** The daemon's answer, made from the journal on disk. Without a daemon no pod is "attaching". */
export function attachmentsOnDisk(journal: DiskJournal): AttachmentsAnswer {
  return { attachments: journal.records.map((record) => attachmentView(journal, record)) };
}

export function leaksOnDisk(journal: DiskJournal): LeaksAnswer {
  return { leaks: journal.leaks.map(leakView), quarantined: journal.quarantined.map(quarantineView) };
}

/**
 * The flight recorder's entries. For containers that it has forgotten, entries from the journal, which knows what was done
 * but not when.
 */
export function timelineOnDisk(journal: DiskJournal, pod: PodKey, story: DiskStory = noStory): TimelineAnswer {
  const records = journal.records.filter((record) =>
    pod.namespace === ""
      ? record.containerId === pod.name
      : record.pod.namespace === pod.namespace && record.pod.name === pod.name,
  );
  const told = new Set(story.entries.map(({ containerId }) => containerId));
  const forgotten = records.filter(({ containerId }) => !told.has(containerId));
  return {
    namespace: pod.namespace,
    name: pod.name,
    entries: [
      ...forgotten.flatMap((record) => entriesOf(record)),
      ...story.entries,
      ...records.flatMap((record) => keptDelete(journal, record)),
    ],
    ...(story.omitted === 0 ? {} : { omitted: story.omitted }),
  };
}

const noStory: DiskStory = { entries: [], omitted: 0 };

/** The flight recorder's entries about one pod. */
interface DiskStory {
  readonly entries: readonly TimelineEntry[];
  readonly omitted: number;
}

function attachmentView(journal: DiskJournal, record: AttachmentRecord): AttachmentView {
  return { ...recordView(record), phase: isToBeDeleted(journal, record) ? "detaching" : phaseOf(record) };
}

function isToBeDeleted(journal: DiskJournal, record: AttachmentRecord): boolean {
  return journal.hasDelete(offlineDeleteName(record.containerId, record.ifname));
}

function phaseOf(record: AttachmentRecord): AttachmentView["phase"] {
  if (record.phase === "acknowledged") return record.delAttempts > 0 ? "detaching" : "attached";
  return record.phase === "undoing" ? "undoing" : "lost";
}

function entriesOf(record: AttachmentRecord): readonly TimelineEntry[] {
  const base = { wallMs: record.startedWallMs, containerId: record.containerId, verb: "ADD" };
  const planned = {
    ...base,
    what: "planned",
    detail: record.chains.map((chain) => `${chain.network} as ${chain.ifname}`).join(", "),
  };
  const failed =
    record.failure === undefined
      ? []
      : [{ ...base, what: "failed", detail: `${record.failure.message} (${record.failure.code})` }];
  const ended = record.phase === "intent" || record.phase === "undoing" ? [] : [{ ...base, what: record.phase }];
  const deletes =
    record.delAttempts === 0
      ? []
      : [{ ...base, verb: "DEL", what: "failed", detail: `${record.delAttempts} attempts so far` }];
  return [planned, ...failed, ...ended, ...deletes];
}

function keptDelete(journal: DiskJournal, record: AttachmentRecord): readonly TimelineEntry[] {
  if (!isToBeDeleted(journal, record)) return [];
  const { containerId, startedWallMs: wallMs } = record;
  return [{ wallMs, containerId, verb: "DEL", what: "waiting", detail: "kept on disk until the daemon is back" }];
}
