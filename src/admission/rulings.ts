import { LeveeError } from "../base/errors.ts";
import type { AdmissionClass, AdmissionRequest } from "./request.ts";
import type { Hold } from "./hold/retry-budget.ts";

/** Why a request may not go now. */
export interface Blocker {
  readonly why: BlockerKind;
  /** The network that blocks it, if one does. */
  readonly network?: string;
  /** The network's plugin that hangs, if one does. */
  readonly plugin?: string;
  /** The network's last failure in the plugin's words. */
  readonly reason?: string;
}

type BlockerKind =
  /** All slots are taken. */
  | "slots"
  /** A critical pod is expected on this node and gets the cores for a moment. */
  | "critical-expected"
  /** The daemon's own memory is nearly used up. */
  | "own-memory"
  /** The runtime's cgroup has no room for another plugin. */
  | "delegate-memory"
  /** The network has its half of the slots. */
  | "network-share"
  /** The network fails, and only probes try it. */
  | "network-open"
  /** Plugins of the network hang, so its requests wait. */
  | "network-hangs"
  /** Other requests are ahead of it. */
  | "turn";

/** The kinds of rulings, for metrics, the log and the timeline. The names are stable. */
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
  /** A call with a slot has failed, and the failure counts against the pod. */
  | "charged"
  | "network-opened"
  | "network-closed";

export interface Ruling {
  readonly what: RulingKind;
  /** Undefined for a ruling about a network. */
  readonly request: AdmissionRequest | undefined;
  readonly admissionClass: AdmissionClass | undefined;
  /** How long the request has been in line, or has been running. */
  readonly forMs: number;
  readonly detail: string;
  /** The network of a hung plugin. */
  readonly network?: string;
}

/** A request in line, for people. */
export interface WaitView {
  readonly admissionClass: AdmissionClass;
  readonly waitedMs: number;
  /** Its whole time in line. */
  readonly limitMs: number;
  /** How many requests are ahead of it now. */
  readonly ahead: number;
  /** How many wait in all, including this one. */
  readonly inLine: number;
  /** How many of its namespace wait, including this one. */
  readonly ofItsNamespace: number;
  /** How many namespaces have requests in line. */
  readonly namespaces: number;
  /** At the present rate; undefined while the rate is unknown. */
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
    `network ${network} is blocked by its hung plugin${plugin === "" ? "" : ` ${plugin}`}`,
  "turn": () => "other calls are ahead of it",
};

/** Why a call leaves early when a conf changes. */
export const hurriedReason = "a CNI configuration changed and the runtime waits until its calls have ended";
/** Why a call leaves that is served sooner when it comes back. */
export const lateReason = "its turn comes too late";

/** The time in line is over. The caller of a DEL now stores it on disk. */
export function expiredError(request: AdmissionRequest, view: WaitView, why: string): LeveeError {
  const expected = view.expectedMs === undefined ? "" : `, about ${seconds(view.expectedMs)} more at the present rate`;
  return new LeveeError(
    "try-later",
    `Cannot ${request.kind} now: waited ${seconds(view.waitedMs)} because ${why}, ` +
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

/** Its turn comes after the end of its wait, but in time for its next try. */
export function lateError(request: AdmissionRequest, view: WaitView): LeveeError {
  const { ahead, expectedMs = 0, limitMs, waitedMs } = view;
  return new LeveeError(
    "try-later",
    `Cannot ${request.kind} now: ${ahead} calls are ahead of it, which takes about ${seconds(expectedMs)} at the ` +
      `present rate, and it may wait ${seconds(limitMs - waitedMs)} more; come back in ` +
      `${seconds(Math.max(1_000, expectedMs - limitMs))} or later; the runtime retries`,
  );
}

export function fullError(request: AdmissionRequest, waiting: number, msPerCall: number | undefined): LeveeError {
  const expected = msPerCall === undefined ? "" : `, about ${seconds(waiting * msPerCall)} at the present rate`;
  return new LeveeError(
    "try-later",
    `Cannot ${request.kind} now: the line is full, ${waiting} calls wait already${expected}; the runtime retries`,
  );
}

export function memoryError(request: AdmissionRequest): LeveeError {
  return new LeveeError(
    "try-later",
    `Cannot ${request.kind} now: ${describeBlocker({ why: "own-memory" })}; the runtime retries`,
  );
}

export function supersededError(): LeveeError {
  return new LeveeError("cancelled", "Cannot attach: the runtime asked again for the same pod");
}

function seconds(ms: number): string {
  return `${Math.max(0.1, Math.round(ms / 100) / 10)} s`;
}
