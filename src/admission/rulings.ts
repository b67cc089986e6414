import { LeveeError } from "../base/errors.ts";
import type { AdmissionClass, AdmissionRequest } from "./request.ts";
import type { Hold } from "./hold/retry-budget.ts";

/** Why a request does not go now. */
export interface Blocker {
  readonly why: BlockerKind;
  /** Which network, when it is one. */
  readonly network?: string;
  /** Which plugin of it hangs, when one does. */
  readonly plugin?: string;
  /** What it last failed with, in its plugin's words. */
  readonly reason?: string;
}

type BlockerKind =
  /** All slots are taken. */
  | "slots"
  /** A critical pod is on its way to this node, and has the cores for a moment. */
  | "critical-expected"
  /** The daemon's own memory is nearly used up. */
  | "own-memory"
  /** The runtime's cgroup has no room for another delegate. */
  | "delegate-memory"
  /** The network has its half of the slots. */
  | "network-share"
  /** The network fails, and is tried once in a while. */
  | "network-open"
  /** Delegates of the network hang, so its line stands still. */
  | "network-hangs"
  /** Others are before it. */
  | "turn";

/** Everything admission decides, for metrics, the log and the timeline of `levee why`. The names are stable. */
export type RulingKind =
  | "admitted"
  | "queued"
  | "held"
  | "refused"
  | "expired"
  | "superseded"
  | "cancelled"
  | "upgraded"
  | "hung"
  | "moves-again"
  | "oom-killed"
  /** A call that had its slot has failed, and the failure counts against the pod. */
  | "charged"
  | "network-opened"
  | "network-closed";

export interface Ruling {
  readonly what: RulingKind;
  /** Undefined for what concerns no single call. */
  readonly request: AdmissionRequest | undefined;
  readonly admissionClass: AdmissionClass | undefined;
  /** How long it had been in line by then, or running if it was. */
  readonly forMs: number;
  readonly detail: string;
  /** Of one that hangs: where. */
  readonly network?: string;
}

/** A request in line, as people want to see it. */
export interface WaitView {
  readonly admissionClass: AdmissionClass;
  readonly waitedMs: number;
  /** How many are served before it, as the lines stand now. */
  readonly ahead: number;
  /** How many wait in all, itself included. */
  readonly inLine: number;
  /** How many of its own namespace wait, itself included. */
  readonly ofItsNamespace: number;
  /** How many namespaces are in line with it. */
  readonly namespaces: number;
  /** At the present rate; undefined while nothing is known of it. */
  readonly expectedMs: number | undefined;
  readonly blocker: Blocker;
}

export function describeBlocker(blocker: Blocker): string {
  return blockerTexts[blocker.why](blocker);
}

const blockerTexts: Readonly<Record<BlockerKind, (blocker: Blocker) => string>> = {
  "slots": () => "all slots are taken",
  "critical-expected": () => "a critical pod is being started first",
  "own-memory": () => "the daemon's own memory is nearly used up",
  "delegate-memory": () => "the runtime's cgroup has no room for another plugin",
  "network-share": ({ network = "" }) => `network ${network} has its half of the slots`,
  "network-open": ({ network = "", reason = "" }) =>
    `network ${network} fails and is tried once in a while${reason === "" ? "" : ` (last: ${reason})`}`,
  "network-hangs": ({ network = "", plugin = "" }) =>
    `network ${network} stands still as its plugin ${plugin === "" ? "" : `${plugin} `}hangs`,
  "turn": () => "others are before it",
};

/** Its time in line is over. For a DEL the caller makes it durable now. */
export function expiredError(request: AdmissionRequest, view: WaitView): LeveeError {
  const expected = view.expectedMs === undefined ? "" : `, about ${seconds(view.expectedMs)} more at the present rate`;
  return new LeveeError(
    "try-later",
    `Cannot ${request.kind} now: waited ${seconds(view.waitedMs)} as ${describeBlocker(view.blocker)}, ` +
      `position ${view.ahead + 1} in line (${view.ofItsNamespace} of its namespace)${expected}; the runtime retries`,
  );
}

export function heldError(hold: Hold, leftMs: number): LeveeError {
  const { failure, failures } = hold;
  return new LeveeError(
    "try-later",
    `Cannot attach yet: failed ${failures} times in a row, next try in ${seconds(leftMs)}; last: ${failure.reason}`,
  );
}

export function fullError(request: AdmissionRequest, waiting: number): LeveeError {
  return new LeveeError("try-later", `Cannot ${request.kind} now: no room in line, ${waiting} wait already`);
}

export function memoryError(request: AdmissionRequest): LeveeError {
  return new LeveeError(
    "try-later",
    `Cannot ${request.kind} now: ${describeBlocker({ why: "own-memory" })}; the runtime retries`,
  );
}

export function supersededError(): LeveeError {
  return new LeveeError("cancelled", "The attachment was given up as the runtime asked again for the same pod");
}

function seconds(ms: number): string {
  return `${Math.max(0.1, Math.round(ms / 100) / 10)} s`;
}
