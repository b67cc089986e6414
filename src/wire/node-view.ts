import type { PodNow } from "./pod-now.ts";

/**
 * Questions to the daemon about its node (ASK) and their answers, for the CLI and the guard.
 * `protocolVersion` is their version, and new versions only add fields.
 */
export type Question =
  | ({ readonly ask: "attachments" } & Paged)
  | { readonly ask: "timeline"; readonly namespace: string; readonly name: string }
  /** `retry`: try every leak again now. `forget`: remove the leak with this ID from the ledger without an undo. */
  | ({ readonly ask: "leaks"; readonly retry?: true; readonly forget?: string } & Paged)
  /** `run` starts a round of garbage collection that only looks, or also acts. */
  | ({ readonly ask: "gc"; readonly run?: "look" | "fix" } & Paged)
  /** `run` begins a dry run of a network, `id` asks how it goes. */
  | { readonly ask: "dry-run"; readonly run: { readonly namespace: string; readonly name: string } }
  | { readonly ask: "dry-run"; readonly id: string }
  | { readonly ask: "node" }
  | { readonly ask: "top" }
  | { readonly ask: "checks" };

/**
 * Asks for a list page by page: `after` is empty for the first page, then the `next` of the page before. Without it the
 * answer is the whole list in one frame, or an error. A daemon that knows no pages sends the whole list, without `next`.
 */
interface Paged {
  readonly after?: string;
}

/** `next` is absent on the last page. Rows that come or go meanwhile may be missing; no other row is, and none is twice. */
interface PageEnd {
  readonly next?: string;
}

export interface AttachmentsAnswer extends PageEnd {
  readonly attachments: readonly AttachmentView[];
}

/** The attachments of one ADD: a pod's sandbox and its networks. */
export interface AttachmentView {
  readonly namespace: string;
  readonly pod: string;
  readonly uid: string;
  readonly containerId: string;
  readonly netns: string;
  /** undoing: its ADD failed · detaching: a DEL runs · lost: its shim went away, and its undo is due. */
  readonly phase: "attaching" | "undoing" | "attached" | "detaching" | "lost";
  readonly sinceWallMs: number;
  readonly networks: readonly AttachedNetworkView[];
}

export interface AttachedNetworkView {
  readonly network: string;
  readonly ifname: string;
  readonly isDefault: boolean;
  readonly plugins: readonly string[];
  readonly ips: readonly string[];
  readonly mac: string;
}

export interface TimelineAnswer {
  readonly namespace: string;
  readonly name: string;
  readonly entries: readonly TimelineEntry[];
  /** Problems of every pod of the node, such as an unreachable API server or an unreadable file. Absent without any. */
  readonly notices?: readonly string[];
  /** The number of older entries that were left out. */
  readonly omitted?: number;
  /** The pod's state in admission; absent without a daemon, and when the pod neither waits nor fails. */
  readonly now?: PodNow;
}

/**
 * One entry of a pod's timeline. `stderr` and `detail` come from plugins: remove control characters before showing
 * them.
 */
export interface TimelineEntry {
  readonly wallMs: number;
  readonly containerId: string;
  readonly verb: string;
  /**
   * asked, found, waiting, upgraded, permitted, planned, ran, hung, moves-again, oom-killed, routed, undone, committed,
   * published, publishing, status-…, acknowledged, finished, failed, charged, lost, resumed, leaked, and for a running pod plugged, unplugged. For all pods, with
   * an empty container and verb: daemon-started, daemon-ended, recorder-gap, network-opened, network-closed.
   */
  readonly what: string;
  readonly network?: string;
  readonly ifname?: string;
  readonly plugin?: string;
  readonly tookMs?: number;
  readonly maxRssKib?: number;
  /** The version of the program for which the built-in plugin stood in; absent when the program ran. */
  readonly builtIn?: string;
  /** Why the program ran although the plugin is built in. */
  readonly notBuiltIn?: string;
  /** The exit code or signal of a failed plugin. */
  readonly exitCode?: number;
  readonly signal?: number;
  /** The pod's key in admission. */
  readonly uid?: string;
  /** Consecutive failures of the pod, and the length of its hold. */
  readonly failures?: number;
  readonly holdMs?: number;
  readonly detail?: string;
  readonly stderr?: string;
  /** Where the daemon traces: the trace of a call (asked), and the span of it or of a plugin (ran). */
  readonly trace?: string;
  readonly span?: string;
}

/** Each page has the whole of `quarantined`, which is short. */
export interface LeaksAnswer extends PageEnd {
  readonly leaks: readonly LeakView[];
  readonly quarantined: readonly QuarantineView[];
}

/** Something that an undo could not remove, kept until it is gone. */
export interface LeakView {
  readonly id: string;
  readonly namespace: string;
  readonly pod: string;
  readonly containerId: string;
  readonly network: string;
  readonly ifname: string;
  readonly reason: string;
  readonly sinceWallMs: number;
  readonly attempts: number;
}

interface QuarantineView {
  readonly file: string;
  readonly reason: string;
  readonly sinceWallMs: number;
}

/** The findings of the last garbage collection round, and its actions. */
export interface GcAnswer extends PageEnd {
  /** The requested round, else the last one. It is over once `finished` has reached it. */
  readonly round: number;
  readonly finished: number;
  /** 0 before the end of the first round. */
  readonly finishedWallMs: number;
  /** The time between two rounds of the daemon's own; 0 when rounds run only on request. */
  readonly intervalMs: number;
  /** Why the last round could not look or stopped early; empty when it was complete. */
  readonly failure: string;
  readonly findings: readonly GcFinding[];
  /** Parts that the round could not look at, with the reason. */
  readonly notes: readonly string[];
}

/**
 * `attachment`: in the journal. `lease`: an address of host-local. `pod`: a pod without a network that it asked for.
 */
export interface GcFinding {
  readonly what: "attachment" | "lease" | "pod";
  readonly namespace: string;
  readonly pod: string;
  readonly containerId: string;
  /** Several names are joined by commas. */
  readonly network: string;
  readonly ifname: string;
  readonly address: string;
  readonly why: string;
  readonly action: GcAction;
  /** The outcome of the action; empty when the action's name says it all. */
  readonly detail: string;
}

/**
 * detach, release: due, but this round only looked · wait: needs a second look · hold: the limit of this minute is
 * reached · report: never acted on · detached, released, failed: the outcome of this round.
 */
export type GcAction = "detach" | "release" | "wait" | "hold" | "report" | "detached" | "released" | "failed";

export interface NodeAnswer {
  readonly software: string;
  readonly protocol: number;
  readonly stateDir: string;
  readonly socket: string;
  readonly bootId: string;
  readonly startedWallMs: number;
  readonly attachments: number;
  readonly leaks: number;
  readonly quarantined: number;
  readonly waiting: number;
  readonly running: number;
  readonly residentHands: readonly { readonly software: string; readonly pid: number; readonly sinceWallMs: number }[];
  /** Warnings for people: a broken YAML file, a state folder on tmpfs, an ignored setting. */
  readonly notices: readonly string[];
}

/** Whether this node may take pods, and on which networks. Also the `checks` of `/nodez`. */
export interface ChecksAnswer {
  /** The node's name in the cluster; the host name without a cluster. */
  readonly nodeName: string;
  /** The answer of `/readyz`. */
  readonly isReady: boolean;
  readonly checks: readonly CheckView[];
  /** At most 1,000; networks that are not ready or have doubts come first. */
  readonly networks: readonly NetworkReadyView[];
  readonly networksTotal: number;
  /** Time since a hand looked at the host for the networks; absent before the first look. */
  readonly networksAgeMs?: number;
  /** Software of the last shim that made a call; empty before the first call. */
  readonly shimSoftware: string;
}

interface CheckView {
  readonly name: string;
  readonly state: "ok" | "warning" | "failed";
  readonly detail: string;
  readonly hint: string;
}

export interface NetworkReadyView {
  readonly network: string;
  readonly state: "ready" | "not-ready" | "unknown";
  /** The missing things; for a ready network, its doubts. */
  readonly reasons: readonly string[];
}

export type Answer<T> =
  | { readonly answer: T }
  | { readonly error: { readonly code: string; readonly message: string } };
