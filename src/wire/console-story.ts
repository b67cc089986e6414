import type { NetworkLine, NodeCell } from "./console-view.ts";

/** At most 20, those that wait first. */
export interface PodMatches {
  readonly pods: readonly PodMatch[];
  /** How many more match. */
  readonly more: number;
}

export interface PodMatch {
  readonly namespace: string;
  readonly pod: string;
  readonly node: string;
  readonly state: "waiting" | "attached" | "unbound" | "ended";
}

/** `levee why` as a time line. */
export interface ConsolePodStory {
  readonly namespace: string;
  readonly pod: string;
  readonly node: string;
  /** Waiting, attached, held, failed … */
  readonly state: string;
  readonly sinceMs: number;
  readonly reason: string;
  /** `daemon`: with each plugin. `api`: only what the API server has; `why` says why not more. */
  readonly source: "daemon" | "disk" | "api";
  readonly why: string;
  /** Oldest first. A span has `tookMs` and ends at `atMs`. */
  readonly entries: readonly StoryEntry[];
  readonly omitted: number;
  readonly networks: readonly StoryNetwork[];
  readonly notices: readonly string[];
  readonly command: string;
}

export interface StoryEntry {
  readonly atMs: number;
  readonly what: string;
  /** One sentence for people. */
  readonly text: string;
  readonly isFailure: boolean;
  readonly verb: string;
  /** Set for a run of a plugin. */
  readonly plugin?: string;
  readonly network?: string;
  readonly tookMs?: number;
  readonly detail?: string;
}

export interface StoryNetwork {
  readonly network: string;
  readonly ifname: string;
  readonly ips: readonly string[];
  readonly mac: string;
}

export interface ConsoleNetworkStory {
  readonly line: NetworkLine;
  /** Nodes that cannot serve it, or may not, each with why; at most 200. */
  readonly nodes: readonly { readonly node: string; readonly state: string; readonly why: string }[];
  /** Pods that ask for it, waiting ones first; at most 200. */
  readonly pods: readonly PodMatch[];
  readonly podsTotal: number;
  /** Addresses left; absent where its IPAM keeps them elsewhere, and `addressesWhy` says so. */
  readonly addresses?: { readonly total: number; readonly used: number };
  readonly addressesWhy: string;
  /** Its definition's configuration, as written. */
  readonly config: string;
  readonly command: string;
}

/** What a node's daemon says of itself. */
export interface ConsoleNodeStory {
  readonly cell: NodeCell;
  readonly software: string;
  readonly checks: readonly {
    readonly name: string;
    readonly state: "ok" | "warning" | "failed";
    readonly detail: string;
    readonly hint: string;
  }[];
  readonly networks: readonly { readonly network: string; readonly state: string; readonly why: string }[];
  readonly notices: readonly string[];
  readonly command: string;
}

/** `levee explain`: Markdown of our own pages, in which nothing of tenants is. */
export interface ConsoleTopic {
  readonly name: string;
  readonly title: string;
  readonly text: string;
}
