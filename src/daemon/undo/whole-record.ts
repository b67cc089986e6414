import type { AttachmentRecord } from "../../state/journal/attachment-record.ts";
import { lastResult } from "../chains/steps.ts";

/** The record with the chains of a change that has not ended: an undo must remove what they may have left, too. */
export function wholeRecord(record: AttachmentRecord): AttachmentRecord {
  const { plug } = record;
  if (plug === undefined) return record;
  const progress = { chains: plug.joining, steps: plug.steps };
  return {
    ...record,
    chains: [...record.chains, ...plug.joining],
    results: [
      ...record.chains.map((_chain, index) => record.results[index]),
      ...plug.joining.map((_chain, index) => lastResult(progress, index)),
    ],
    plug: undefined,
  };
}
