import type { PodNow } from "./pod-now.ts";

/**
 * What the daemon tells about its node: the answers to ASK, read by the CLI and later by the guard.
 * Versioned by `protocolVersion`; fields are only ever added.
 */
export type Question =
  | { readonly ask: "attachments" }
  | { readonly ask: "timeline"; readonly namespace: string; readonly name: string }
  /** `retry`: every leak is tried again now. `forget`: the entry of this ID is crossed out without being undone. */
  | { readonly ask: "leaks"; readonly retry?: true; readonly forget?: string }
  /** `run` asks for a round of garbage collection now: one that only looks, or one that also acts. */
  | { readonly ask: "gc"; readonly run?: "look" | "fix" }
  | { readonly ask: "node" }
  | { readonly ask: "top" }
  | { readonly ask: "checks" };

export interface AttachmentsAnswer {
  readonly attachments: readonly AttachmentView[];
}

/** One CNI call's attachments: a pod's sandbox on its networks. */
export interface AttachmentView {
  readonly namespace: string;
  readonly pod: string;
  readonly uid: string;
  readonly containerId: string;
  readonly netns: string;
  /** attaching: running · undoing: being undone · attached · detaching · lost: its shim went away, undo is due. */
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
  /** What concerns every pod of the node: an API server that is away, a file that cannot be read. Absent when there is none. */
  readonly notices?: readonly string[];
  /** How many older entries were left out. */
  readonly omitted?: number;
  /** How the pod stands with admission; absent when it neither waits nor has failed, and without a daemon. */
  readonly now?: PodNow;
}

/** One thing that happened to a pod. `stderr` and `detail` come from plugins: show them with control characters removed. */
export interface TimelineEntry {
  readonly wallMs: number;
  readonly containerId: string;
  readonly verb: string;
  /**
   * asked, found, waiting, upgraded, permitted, planned, ran, hung, moves-again, oom-killed, routed, undone, committed,
   * published, publishing, status-…, acknowledged, finished, failed, charged, lost, resumed, leaked. Of every pod, with
   * an empty container and verb: daemon-started, daemon-ended, recorder-gap, network-opened, network-closed.
   */
  readonly what: string;
  readonly network?: string;
  readonly ifname?: string;
  readonly plugin?: string;
  readonly tookMs?: number;
  readonly maxRssKib?: number;
  /** Of a plugin that failed. */
  readonly exitCode?: number;
  readonly signal?: number;
  /** By which admission knows the pod. */
  readonly uid?: string;
  /** Of a pod that has failed: how often in a row, and how long it is not tried again. */
  readonly failures?: number;
  readonly holdMs?: number;
  readonly detail?: string;
  readonly stderr?: string;
}

export interface LeaksAnswer {
  readonly leaks: readonly LeakView[];
  readonly quarantined: readonly QuarantineView[];
}

/** Something that could not be undone, kept until it is. */
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

/** What garbage collection saw at its last look, and what it did about it. */
export interface GcAnswer {
  /** The round that was asked for, else the last one. It is over once `finished` has reached it. */
  readonly round: number;
  readonly finished: number;
  /** 0 before the first round has ended. */
  readonly finishedWallMs: number;
  /** Between two rounds of the daemon's own; 0 when there are none but those that are asked for. */
  readonly intervalMs: number;
  /** Why the last round saw nothing, or stopped short; empty when it did not. */
  readonly failure: string;
  readonly findings: readonly GcFinding[];
  /** What could not be looked at, and why. */
  readonly notes: readonly string[];
}

/** `attachment`: of the journal. `lease`: an address of host-local. `pod`: one that lacks a network it asked for. */
export interface GcFinding {
  readonly what: "attachment" | "lease" | "pod";
  readonly namespace: string;
  readonly pod: string;
  readonly containerId: string;
  /** Several are joined by a comma. */
  readonly network: string;
  readonly ifname: string;
  readonly address: string;
  readonly why: string;
  readonly action: GcAction;
  /** What came of the action, when there is more to say than its name. */
  readonly detail: string;
}

/**
 * detach, release: due, and not done as this round only looked · wait: must be seen once more · hold: the limit of
 * this minute is reached · report: left alone whatever is asked · detached, released, failed: what this round did.
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
  /** Things a person should know, in plain English: a broken YAML file, a state folder on tmpfs, an ignored setting. */
  readonly notices: readonly string[];
}

/** Whether this node may take pods, and on which networks. Also the `checks` of `/nodez`. */
export interface ChecksAnswer {
  /** As the cluster knows it; the host's name on a machine without one. */
  readonly nodeName: string;
  /** What `/readyz` answers. */
  readonly isReady: boolean;
  readonly checks: readonly CheckView[];
  /** Those that are not ready, or may be amiss, first; at most 1,000 of them. */
  readonly networks: readonly NetworkReadyView[];
  readonly networksTotal: number;
  /** How long ago a hand looked at the host for them; absent while nobody has. */
  readonly networksAgeMs?: number;
  /** Software of the last shim that made a call; empty before the first. */
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
  /** What is missing; of a ready one, what may be amiss. */
  readonly reasons: readonly string[];
}

export type Answer<T> =
  | { readonly answer: T }
  | { readonly error: { readonly code: string; readonly message: string } };
