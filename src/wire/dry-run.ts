import type { ContainerId } from "../base/brand.ts";

/** Asking a daemon to try a network on its node, by `levee check network --dry-run`. */

/** By this beginning of its container ID people know a dry run in leases, logs and `levee ls`. */
const dryRunMark = "levee-dry-run-";

export function dryRunContainer(hex: string): ContainerId {
  return `${dryRunMark}${hex}` as ContainerId; // a name that every plugin and file system takes
}

/** In this order. `look`: nothing was tried yet. `compare`: whether something is left of it. */
export type DryRunStep = "look" | "ADD" | "CHECK" | "DEL" | "compare";

export interface DryRunAnswer {
  /** By which it is asked for. */
  readonly id: string;
  /** With the mark: what leases, pools and `levee ls` call it. Older daemons do not say it. */
  readonly containerId?: string;
  /** `namespace/name`. */
  readonly network: string;
  /** refused: nothing was tried, and nothing changed. */
  readonly state: "running" | "passed" | "failed" | "refused";
  /** The step that runs, that failed, or the last one. */
  readonly step: DryRunStep;
  /** Why it failed or was refused; else empty. It may quote a plugin: remove control characters before showing it. */
  readonly reason: string;
  readonly remedy: string;
  /** The addresses that the network gave, and took back. */
  readonly addresses: readonly string[];
  readonly tookMs: number;
}

export const dryRunsPath = (namespace: string): string =>
  `/apis/levee.dev/v1alpha1/namespaces/${encodeURIComponent(namespace)}/networkdryruns`;

/** The request of a person with the right to create it: an object in the namespace of the network. */
export interface DryRunRequest {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  /** The name of the network. */
  readonly network: string;
  /** The nodes that are meant. Empty: every node. */
  readonly nodes: readonly string[];
  readonly createdWallMs: number;
}

export function dryRunObject(of: { readonly network: string; readonly nodes: readonly string[] }): object {
  return {
    apiVersion: "levee.dev/v1alpha1",
    kind: "NetworkDryRun",
    metadata: { generateName: "check-" },
    spec: { network: of.network, nodes: of.nodes },
  };
}

/** Undefined for something else. */
export function parseDryRun(value: unknown): DryRunRequest | undefined {
  const { metadata, spec } = (value ?? {}) as Partial<Record<"metadata" | "spec", Fields>>; // each member is looked at below
  const createdWallMs = Date.parse(textIn(metadata, "creationTimestamp"));
  const request = {
    namespace: textIn(metadata, "namespace"),
    name: textIn(metadata, "name"),
    uid: textIn(metadata, "uid"),
    network: textIn(spec, "network"),
  };
  const nodes = spec?.["nodes"] ?? [];
  const isWhole = Object.values(request).every((text) => text !== "") && !Number.isNaN(createdWallMs);
  return isWhole && Array.isArray(nodes) && nodes.every(isText) ? { ...request, nodes, createdWallMs } : undefined;
}

type Fields = Readonly<Record<string, unknown>>;

function textIn(fields: Fields | undefined, name: string): string {
  const value = fields?.[name];
  return isText(value) ? value : "";
}

function isText(value: unknown): value is string {
  return typeof value === "string";
}
