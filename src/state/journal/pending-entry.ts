import type { ContainerId } from "../../base/brand.ts";
import { LeveeError } from "../../base/errors.ts";
import { batchBytesMax, type Durability } from "./durability.ts";
import type { JournalEntry } from "./journal-entry.ts";

/** An entry on its way to the disk, and its caller. */
export interface PendingEntry extends Durability {
  readonly entry: JournalEntry;
  readonly line: string;
  readonly bytes: number;
  readonly resolve: () => void;
  readonly reject: (error: LeveeError) => void;
}

/** Removes the entries of the next write from the queue: at least one, whatever its size. */
export function takeBatch(queue: PendingEntry[]): PendingEntry[] {
  let bytes = 0;
  const tooMany = queue.findIndex((pending) => (bytes += pending.bytes) > batchBytesMax);
  return queue.splice(0, tooMany === -1 ? queue.length : Math.max(1, tooMany));
}

export function linesOf(batch: readonly PendingEntry[]): string {
  const [first, ...others] = batch;
  return others.reduce((text, { line }) => text + line, first?.line ?? "");
}

export function containerOf({ entry }: PendingEntry): ContainerId {
  if (entry.kind === "begin") return entry.record.containerId;
  if (entry.kind === "removed") return entry.containerId;
  throw new LeveeError("internal", `Cannot name the container of a ${entry.kind} entry: it has none`);
}
