import type { IfName, JsonText } from "../../base/brand.ts";
import type { AttachmentRecord, StepRecord } from "./attachment-record.ts";
import type { JournalEntry } from "./journal-entry.ts";
import { plugEnded } from "./plug-record.ts";

type RecordChange = Extract<
  JournalEntry,
  { kind: "step" | "undoing" | "commit" | "acknowledge" | "del-failed" | "plug" | "plug-step" | "plug-ended" }
>;

/** The record after an entry. */
export function changed(record: AttachmentRecord, entry: RecordChange): AttachmentRecord {
  switch (entry.kind) {
    case "step":
      return { ...record, steps: new Map(record.steps).set(entry.step.step, entry.step) };
    case "undoing":
      return { ...record, phase: "undoing", failure: record.failure ?? entry.failure };
    case "commit":
      return { ...record, phase: "committed", results: entry.results };
    case "acknowledge":
      return acknowledged(record);
    case "del-failed":
      return { ...record, delAttempts: record.delAttempts + 1 };
    case "plug":
      return { ...record, plug: entry.plug };
    case "plug-step":
      return withPlugStep(record, entry);
    case "plug-ended":
      return { ...record, ...plugEnded(record, entry.end) };
  }
}

/** A step of a change whose first line was damaged belongs to nothing. */
function withPlugStep(
  record: AttachmentRecord,
  { step, again }: Extract<RecordChange, { kind: "plug-step" }>,
): AttachmentRecord {
  const { plug } = record;
  if (plug === undefined) return record;
  if (again !== undefined) return withResult(record, step, again);
  return { ...record, plug: { ...plug, steps: new Map(plug.steps).set(step.step, step) } };
}

/** A chain that comes back has the newest result of its plugins, so that its next DEL gets that. */
function withResult(record: AttachmentRecord, { result }: StepRecord, ifname: IfName): AttachmentRecord {
  if (result === undefined) return record;
  const results = record.chains.map((chain, at) => (chain.ifname === ifname ? result : record.results[at]));
  return { ...record, results };
}

/** Also valid after a damaged commit: the pod has its network, and an undo would be worse than a missing prevResult. */
function acknowledged(record: AttachmentRecord): AttachmentRecord {
  const results = allResults(record);
  // The record stays as long as the pod lives. With every chain's result the steps are no longer needed, and the shim
  // matters only while it may still run.
  const isWhole = results.every((result) => result !== undefined);
  return { ...record, phase: "acknowledged", results, steps: isWhole ? noSteps : record.steps, hand: undefined };
}

const noSteps: AttachmentRecord["steps"] = new Map();

function allResults(record: AttachmentRecord): readonly (JsonText | undefined)[] {
  return record.results.length > 0 ? record.results : record.chains.map(() => undefined);
}
