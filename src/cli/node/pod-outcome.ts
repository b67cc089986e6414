import type { AttachmentView, TimelineAnswer, TimelineEntry } from "../../wire/node-view.ts";
import type { HungView, PodNow } from "../../wire/pod-now.ts";

/** The pod's current state, or the end of its last call. */
export interface PodOutcome {
  /** The phases of an attachment. `undone`: the ADD failed and was undone. */
  readonly state:
    | AttachmentView["phase"]
    | "detached"
    | "undone"
    | "failed"
    | "leaked"
    | "unknown"
    /** In line · held, not tried yet · its plugin runs and does nothing. */
    | "waiting"
    | "held"
    | "hung";
  /** Since when; 0 if unknown. */
  readonly sinceWallMs: number;
  /** Why it failed; empty if it did not. */
  readonly reason: string;
}

export interface PodStory {
  readonly timeline: Pick<TimelineAnswer, "entries" | "now">;
  /** The pod's sandboxes that the daemon has on record now. */
  readonly attachments: readonly AttachmentView[];
}

export function outcomeOf(story: PodStory): PodOutcome {
  const { now } = story.timeline;
  // Entries about every pod say nothing about this one.
  const entries = story.timeline.entries.filter(({ containerId }) => containerId !== "");
  const current = newestOf(story.attachments);
  const standing = now === undefined || current?.phase === "attached" ? undefined : standingOf(now, entries);
  if (standing !== undefined) return standing;
  if (current !== undefined) {
    const reason = current.phase === "undoing" ? undoingReason(current, entries) : "";
    return { state: current.phase, sinceWallMs: current.sinceWallMs, reason };
  }
  const last = entries.at(-1);
  return last === undefined ? { state: "unknown", sinceWallMs: 0, reason: "" } : endingOf(last, entries);
}

function standingOf(now: PodNow, entries: readonly TimelineEntry[]): PodOutcome | undefined {
  const since = (what: string): number => entries.findLast((entry) => entry.what === what)?.wallMs ?? 0;
  if (now.hung !== undefined) return { state: "hung", sinceWallMs: since("hung"), reason: hungReason(now.hung) };
  if (now.waiting !== undefined)
    return { state: "waiting", sinceWallMs: since("waiting"), reason: now.waiting.blocker };
  if (now.failing === undefined || now.failing.nextTryMs === 0) return undefined;
  return { state: "held", sinceWallMs: since("failed"), reason: now.failing.reason };
}

function hungReason({ plugin, network }: HungView): string {
  return `${plugin === "" ? "a plugin" : plugin} of ${network} uses no CPU and does not end`;
}

/** The newest sandbox of the pod is the one that counts. */
export function newestOf(attachments: readonly AttachmentView[]): AttachmentView | undefined {
  return attachments.toSorted((left, right) => left.sinceWallMs - right.sinceWallMs).at(-1);
}

function endingOf(last: TimelineEntry, entries: readonly TimelineEntry[]): PodOutcome {
  const failed = entries.findLast(isFailure);
  if (last.verb === "DEL" && last.what === "finished") {
    const add = failedAdd(last.containerId, entries);
    return add === undefined
      ? { state: "detached", sinceWallMs: last.wallMs, reason: "" }
      : { state: "undone", sinceWallMs: add.wallMs, reason: reasonOf(add) };
  }
  if (last.what === "leaked") return { state: "leaked", sinceWallMs: last.wallMs, reason: reasonOf(last, failed) };
  if (failed !== undefined) return { state: "failed", sinceWallMs: failed.wallMs, reason: reasonOf(failed) };
  return { state: "unknown", sinceWallMs: last.wallMs, reason: "" };
}

/** A runtime sends DEL after a failed ADD too, so a successful DEL does not prove that the pod was attached. */
function failedAdd(containerId: string, entries: readonly TimelineEntry[]): TimelineEntry | undefined {
  const adds = entries.filter((entry) => entry.verb === "ADD" && entry.containerId === containerId);
  const end = adds.findLast(({ what }) => what === "failed" || what === "acknowledged");
  return end?.what === "failed" ? end : undefined;
}

function isFailure({ what }: TimelineEntry): boolean {
  return what === "failed";
}

/** The failure is recorded only after the undo, but the failed plugin run is known before. */
function undoingReason({ containerId }: AttachmentView, entries: readonly TimelineEntry[]): string {
  const own = entries.filter((entry) => entry.containerId === containerId && entry.verb === "ADD");
  const wrong = own.findLast(({ what, detail }) => what === "ran" && detail !== undefined);
  return reasonOf(own.findLast(isFailure), wrong, entries.findLast(isFailure));
}

function reasonOf(...entries: readonly (TimelineEntry | undefined)[]): string {
  return entries.find((entry) => entry?.detail !== undefined)?.detail ?? "no reason on record";
}
