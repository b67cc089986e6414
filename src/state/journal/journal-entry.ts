import type { ContainerId, IfName, JsonText } from "../../base/brand.ts";
import { LeveeError } from "../../base/errors.ts";
import type { AttachmentRecord, RecordedFailure, StepRecord } from "./attachment-record.ts";
import {
  asShape,
  asText,
  countAt,
  flagAt,
  listAt,
  parseShape,
  shapeAt,
  textAt,
  timeAt,
  type Shape,
} from "../files/json-shape.ts";
import type { LeakEntry, LeakRetry } from "./leak-ledger.ts";
import type { PlugEnd, PlugRecord } from "./plug-record.ts";
import {
  chainsFromJson,
  failureFromJson,
  netnsFromJson,
  netnsToJson,
  plugFromJson,
  plugToJson,
  podFromJson,
  recordFromJson,
  recordToJson,
  resultsFromJson,
  resultsToJson,
  stepFromJson,
  stepToJson,
} from "./record-json.ts";

/** One line of the journal. Any other kind comes from a newer Levee. */
export type JournalEntry =
  | { readonly kind: "genesis"; readonly genesis: Genesis }
  | { readonly kind: "imported" }
  | { readonly kind: "begin"; readonly record: AttachmentRecord }
  | { readonly kind: "step"; readonly token: string; readonly step: StepRecord }
  | { readonly kind: "undoing"; readonly token: string; readonly failure: RecordedFailure }
  | { readonly kind: "commit"; readonly token: string; readonly results: readonly (JsonText | undefined)[] }
  | { readonly kind: "acknowledge"; readonly token: string }
  | { readonly kind: "del-failed"; readonly token: string; readonly reason: string }
  | { readonly kind: "plug"; readonly token: string; readonly plug: PlugRecord }
  /** A step of a chain that joins; or, with `again`, of the chain of that interface, which comes back. */
  | { readonly kind: "plug-step"; readonly token: string; readonly step: StepRecord; readonly again?: IfName }
  | { readonly kind: "plug-ended"; readonly token: string; readonly end: PlugEnd }
  | { readonly kind: "removed"; readonly token: string; readonly containerId: ContainerId }
  | { readonly kind: "leak"; readonly leak: LeakEntry }
  | { readonly kind: "leak-retried"; readonly id: string; readonly retry: LeakRetry }
  | { readonly kind: "leak-resolved"; readonly id: string };

export type EntryKind = JournalEntry["kind"];

/** The first line, as proof that the journal was not emptied or replaced. */
export interface Genesis {
  /** The boot in which the journal was created. */
  readonly bootId: string;
  readonly createdWallMs: number;
  /** Whether Multus' cache has been taken over. */
  readonly importDone: boolean;
  readonly leaksDropped: number;
}

export function entryToJson(entry: JournalEntry): string {
  switch (entry.kind) {
    case "begin":
      return JSON.stringify({ kind: entry.kind, record: recordToJson(entry.record) });
    case "step":
      return JSON.stringify({ kind: entry.kind, token: entry.token, step: stepToJson(entry.step) });
    case "plug-step":
      return JSON.stringify({ ...entry, step: stepToJson(entry.step) });
    case "commit":
      return JSON.stringify({ kind: entry.kind, token: entry.token, results: resultsToJson(entry.results) });
    case "plug":
      return JSON.stringify({ kind: entry.kind, token: entry.token, plug: plugToJson(entry.plug) });
    case "plug-ended":
      return JSON.stringify({ kind: entry.kind, token: entry.token, end: plugEndToJson(entry.end) });
    case "leak":
      return JSON.stringify({ kind: entry.kind, leak: leakToJson(entry.leak) });
    default:
      return JSON.stringify(entry);
  }
}

export function entryFromJson(json: string): JournalEntry {
  const shape = parseShape(json, "a record of the journal");
  const kind = textAt(shape, "kind");
  const read = Object.hasOwn(readers, kind) ? readers[kind as EntryKind] : undefined;
  if (read !== undefined) return read(shape);
  throw new LeveeError("state-newer", `Cannot read a journal record as its kind is unknown: ${kind}`, {
    details: `the unknown kind ${kind}`,
  });
}

const readers: { readonly [Kind in EntryKind]: (shape: Shape) => JournalEntry } = {
  "genesis": (shape) => ({ kind: "genesis", genesis: genesisFromJson(shapeAt(shape, "genesis")) }),
  "imported": () => ({ kind: "imported" }),
  "begin": (shape) => ({ kind: "begin", record: recordFromJson(shapeAt(shape, "record")) }),
  "step": (shape) => ({ kind: "step", token: textAt(shape, "token"), step: stepFromJson(shapeAt(shape, "step")) }),
  "undoing": (shape) => ({
    kind: "undoing",
    token: textAt(shape, "token"),
    failure: failureFromJson(shapeAt(shape, "failure")),
  }),
  "commit": (shape) => ({
    kind: "commit",
    token: textAt(shape, "token"),
    results: resultsFromJson(listAt(shape, "results")),
  }),
  "acknowledge": (shape) => ({ kind: "acknowledge", token: textAt(shape, "token") }),
  "del-failed": (shape) => ({ kind: "del-failed", token: textAt(shape, "token"), reason: textAt(shape, "reason") }),
  "plug": (shape) => ({ kind: "plug", token: textAt(shape, "token"), plug: plugFromJson(shapeAt(shape, "plug")) }),
  "plug-step": (shape) => ({
    kind: "plug-step",
    token: textAt(shape, "token"),
    step: stepFromJson(shapeAt(shape, "step")),
    ...(shape["again"] === undefined ? {} : { again: textAt(shape, "again") as IfName }),
  }),
  "plug-ended": (shape) => ({
    kind: "plug-ended",
    token: textAt(shape, "token"),
    end: plugEndFromJson(shapeAt(shape, "end")),
  }),
  "removed": (shape) => ({
    kind: "removed",
    token: textAt(shape, "token"),
    containerId: textAt(shape, "containerId") as ContainerId,
  }),
  "leak": (shape) => ({ kind: "leak", leak: leakFromJson(shapeAt(shape, "leak")) }),
  "leak-retried": (shape) => ({
    kind: "leak-retried",
    id: textAt(shape, "id"),
    retry: retryFromJson(shapeAt(shape, "retry")),
  }),
  "leak-resolved": (shape) => ({ kind: "leak-resolved", id: textAt(shape, "id") }),
};

function genesisFromJson(json: Shape): Genesis {
  return {
    bootId: textAt(json, "bootId"),
    createdWallMs: timeAt(json, "createdWallMs"),
    importDone: flagAt(json, "importDone"),
    leaksDropped: countAt(json, "leaksDropped"),
  };
}

function leakToJson(leak: LeakEntry): object {
  return { ...leak, netns: netnsToJson(leak.netns), results: resultsToJson(leak.results) };
}

function leakFromJson(json: Shape): LeakEntry {
  return {
    id: textAt(json, "id"),
    containerId: textAt(json, "containerId") as ContainerId,
    ifname: textAt(json, "ifname") as IfName,
    pod: json["pod"] === undefined ? undefined : podFromJson(shapeAt(json, "pod")),
    chains: chainsFromJson(listAt(json, "chains")),
    results: resultsFromJson(listAt(json, "results")),
    netns: netnsFromJson(shapeAt(json, "netns")),
    cniPath: textAt(json, "cniPath"),
    bootId: textAt(json, "bootId"),
    sinceWallMs: timeAt(json, "sinceWallMs"),
    linksAdded: json["linksAdded"] === undefined ? undefined : countAt(json, "linksAdded"),
    ...retryFromJson(json),
  };
}

function retryFromJson(json: Shape): LeakRetry {
  return {
    reason: textAt(json, "reason"),
    attempts: countAt(json, "attempts"),
    nextTryWallMs: timeAt(json, "nextTryWallMs"),
    // Older journals do not have these.
    hasTimedOut: json["hasTimedOut"] === true,
    repeats: json["repeats"] === undefined ? 0 : countAt(json, "repeats"),
  };
}

function plugEndToJson({ gone, joined, renewed }: PlugEnd): object {
  return { gone, joined: resultsToJson(joined), renewed };
}

/** The casts are right as in record-json.ts: the values were checked when they were planned. */
function plugEndFromJson(json: Shape): PlugEnd {
  return {
    gone: listAt(json, "gone").map((ifname) => asText(ifname, "gone") as IfName),
    joined: resultsFromJson(listAt(json, "joined")),
    renewed: listAt(json, "renewed").map((one) => {
      const shape = asShape(one, "renewed");
      return { ifname: textAt(shape, "ifname") as IfName, result: textAt(shape, "result") as JsonText };
    }),
  };
}
