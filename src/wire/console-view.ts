/**
 * What the console's page and its server say to each other. Types only: the page imports this file too. Texts may hold
 * words of tenants, cleaned of control characters; the page shows them as text, never as markup.
 *
 * Every address is relative to the page's own: behind `levee console` that is `/TOKEN/`, in a cluster it is `/`. The page
 * sends nothing but `Authorization: Bearer …`, and that only after a 401 with the code `sign-in-needed`.
 *
 * | request | answer |
 * | --- | --- |
 * | GET `` | the page; `console.js`, `console.css`, `icon.svg` beside it |
 * | GET `events` | `text/event-stream`, read with fetch: `snapshot` first, then `change`; each has the revision as its id. A comment every 15 s. The event `end` is the last one |
 * | GET `pods?match=TEXT` | PodMatches |
 * | GET `pod?namespace=NS&name=NAME` | ConsolePodStory |
 * | GET `network?name=NS/NAME` | ConsoleNetworkStory |
 * | GET `node?name=NODE` | ConsoleNodeStory |
 * | GET `explain/CODE` | ConsoleTopic |
 * | GET `history?hours=N` | StormHistory; 404 with the code `no-prometheus` without one |
 * | POST `decision/NAME/approve`, `reject`, `pause`, `resume` | VerdictRequestBody in, VerdictAnswer out |
 *
 * Every other answer is a ConsoleProblem as JSON with the status 4xx or 5xx. 401 ends everything: the page asks nothing
 * more until the viewer signs in again or opens the page anew. Pages follow the stream only; a stream that ends is opened
 * again with back-off and begins with a whole snapshot. A POST has `Content-Type: application/json` and the page's own
 * Origin, which fetch sends by itself.
 */

import type { DecisionCard } from "./console-decision.ts";
import type { StormView } from "./console-storm.ts";

/** Event `snapshot`: everything but stories. Milliseconds are since 1970, by the server's clock. */
export interface ConsoleSnapshot {
  readonly revision: number;
  readonly asOfMs: number;
  readonly viewer: ConsoleViewer;
  readonly now: NowLine;
  readonly sources: readonly ConsoleSource[];
  /** In the order of their names; thousands. */
  readonly nodes: readonly NodeCell[];
  readonly storm: StormView;
  readonly networks: readonly NetworkLine[];
  readonly plugins: readonly PluginLine[];
  readonly decisions: readonly DecisionCard[];
  readonly alerts: AlertSums;
  readonly reboots: readonly RebootLine[];
}

/** Event `change`, at most two a second. Parts that did not change are absent. */
export interface ConsoleChange extends Partial<
  Pick<ConsoleSnapshot, "viewer" | "now" | "sources" | "networks" | "plugins" | "alerts" | "reboots">
> {
  readonly revision: number;
  readonly asOfMs: number;
  readonly nodes?: ConsoleDelta<NodeCell>;
  readonly decisions?: ConsoleDelta<DecisionCard>;
  /** `points` are new ones; everything else is whole. The page drops points older than `StormView.spanMs`. */
  readonly storm?: StormView;
}

/** Entries by `name`: new or changed ones whole, and the names of those that are gone. */
export interface ConsoleDelta<T> {
  readonly changed: readonly T[];
  readonly gone: readonly string[];
}

/** Event `end`: the server hangs up on purpose. With `sign-in-needed` the page stops; otherwise it comes back later. */
export type StreamEnd = ConsoleProblem;

/** Every refusal and failure. `message` says what could not be done and why, `remedy` what to try; it may be empty. */
export interface ConsoleProblem {
  readonly code: string;
  readonly message: string;
  readonly remedy: string;
}

export interface ConsoleViewer {
  /** Empty while nobody knows. */
  readonly name: string;
  /** `node`: no cluster, the daemon's socket on this machine. */
  readonly mode: "kubeconfig" | "in-cluster" | "node";
  /** The server or socket that is looked at, for the page's head. */
  readonly place: string;
  /** The namespace of the guard and its Decisions, for the command lines. */
  readonly namespace: string;
  /** What the API server lets the viewer do with a Decision. It decides again at each write. */
  readonly mayDecide: "yes" | "no" | "unknown";
  /** Why not, or how to get the right; empty with `yes`. */
  readonly why: string;
}

/** One line: does anything need a person, and why. */
export interface NowLine {
  readonly state: "well" | "watch" | "act";
  /** One sentence without a full stop. */
  readonly text: string;
  /** The reasons in order of weight, each with the command that shows the same. */
  readonly reasons: readonly NowReason[];
}

export interface NowReason {
  readonly state: "watch" | "act";
  readonly text: string;
  /** For `explain/CODE`; empty where nothing explains it. */
  readonly code: string;
  readonly command: string;
  /** The part of the page that shows it. */
  readonly part: "nodes" | "storm" | "decisions" | "reboots" | "sources";
}

/** Where facts come from and how old they are. */
export interface ConsoleSource {
  /** `pods`, `nodes`, `decisions`, `gates`, `networks`, `daemons`, `alerts`, `guard` … */
  readonly name: string;
  /** `absent`: the cluster has none of it, and that is fine. `refused`: this viewer may not see it. */
  readonly state: "live" | "stale" | "refused" | "absent" | "starting";
  /** When it was last heard of; 0 for never. */
  readonly asOfMs: number;
  /** Why it is not live; empty when it is. */
  readonly why: string;
}

/**
 * A node as one cell. Absent numbers are 0; absent `slots`, `memory` and `heardMs` mean that its daemon has not answered,
 * an absent `isReady` that nobody knows.
 */
export interface NodeCell {
  readonly name: string;
  /** The worst that is known of it. */
  readonly state: "ok" | "busy" | "warning" | "failed" | "unknown";
  /** Why it is not ok, in words; the worst first. */
  readonly why?: readonly string[];
  readonly isReady?: boolean;
  readonly isCordoned?: true;
  /** ADDs and DELs in line, by the daemon. */
  readonly adds?: number;
  readonly dels?: number;
  /** Pods that have the node and not their network, by the API server. */
  readonly pods?: number;
  /** Slots in use and their number. */
  readonly slots?: readonly [used: number, of: number];
  /** Bytes of the daemon, and their limit; 0 without a limit. */
  readonly memory?: readonly [used: number, of: number];
  /** Processes of the daemon killed for memory, as far as anybody remembers. */
  readonly kills?: number;
  readonly leaks?: number;
  /** Since when a reboot is due. */
  readonly rebootMs?: number;
  readonly gate?: "Allow" | "Deny";
  /** When the daemon last answered. */
  readonly heardMs?: number;
}

/** A network over all nodes. Those with trouble come first; at most 500. */
export interface NetworkLine {
  /** `NAMESPACE/NAME`, or a name of the node's own. */
  readonly name: string;
  /** Types of its plugins, as far as its definition tells. */
  readonly plugins: readonly string[];
  readonly state: "ok" | "warning" | "failed" | "unknown";
  /** Nodes that said they can serve it, of those that said anything. */
  readonly ready: number;
  readonly nodes: number;
  /** Pods that ask for it, and those of them that wait. */
  readonly pods: number;
  readonly waiting: number;
  /** What is wrong, with nodes named; at most 5. */
  readonly why: readonly string[];
}

/** A plugin's runs over all daemons since they started, the slowest first; at most 32. */
export interface PluginLine {
  readonly plugin: string;
  readonly verb: string;
  readonly runs: number;
  readonly failed: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
}

/** `45 firing, 41 explained`. Absent numbers: nobody could ask an Alertmanager, and `why` says so. */
export interface AlertSums {
  readonly firing?: number;
  /** By the causes of the open Decisions. */
  readonly explained?: number;
  readonly why: string;
  /** Alerts by name, those that nothing explains first; at most 50. */
  readonly names: readonly AlertName[];
}

interface AlertName {
  readonly name: string;
  readonly firing: number;
  readonly explained: number;
  /** `levee explain` has a page for it; anybody may make alerts of any name. */
  readonly hasTopic?: true;
}

/** A node that waits for a reboot; the longest waiting first. */
export interface RebootLine {
  readonly node: string;
  readonly sinceMs: number;
  /** Absent without a gate. */
  readonly verdict?: "Allow" | "Deny";
  readonly observedMs?: number;
  readonly reasons: readonly RebootReason[];
  readonly override?: RebootWord;
  /** By which alerts pass; absent without any. */
  readonly exceptions?: readonly RebootWord[];
}

/** What a person said about reboots, and until when it counts. */
export interface RebootWord {
  readonly by: string;
  readonly reason: string;
  readonly untilMs: number;
}

export interface RebootReason {
  /** For `explain/CODE`. */
  readonly code: string;
  readonly message: string;
  readonly sinceMs: number;
  readonly object: string;
  readonly remedy: string;
}
