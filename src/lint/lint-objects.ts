import type { JsonSpan } from "./json-node.ts";

/** A place in a file, or in the text of `spec.config` of an object in the cluster; both count from 1. */
export interface LintPlace {
  /** Empty for an object of the cluster. */
  readonly file: string;
  readonly line: number;
  readonly column: number;
  readonly endLine: number;
  readonly endColumn: number;
}

/** What a finding points at: the object, a field of it, an annotation, or a part of `spec.config`. */
export type LintSpot =
  | { readonly on: "object" }
  | { readonly on: "field"; readonly path: readonly string[] }
  | { readonly on: "config"; readonly span: JsonSpan };

export interface LintObject {
  /** Such as `NetworkAttachmentDefinition prod/vlan57`. */
  readonly title: string;
  readonly namespace: string;
  readonly name: string;
  readonly annotations: Readonly<Record<string, string>>;
  locate(spot: LintSpot): LintPlace;
}

export interface LintNetwork extends LintObject {
  /** Undefined if it is missing or empty: then a file on each node is meant. */
  readonly config: string | undefined;
  /** Whether `spec.config` is there and is not a text. */
  readonly isConfigNoText: boolean;
  /** Keys of `spec` as a file has them; the API server drops those that it does not know. */
  readonly specKeys?: readonly string[];
}

/** A pod, or a workload with a template of pods. */
export interface LintPod extends LintObject {
  /** How many pods it makes; undefined if only the cluster knows, as for a DaemonSet of some nodes. */
  readonly count: number | "per-node" | undefined;
  /** Of the ResourceClaims that it names. */
  readonly claimNames: readonly string[];
}

/** What is known of the cluster. Without it the rules that need it find nothing. */
export interface LintCluster {
  readonly podCidrs: readonly string[];
  readonly serviceCidrs: readonly string[];
  readonly nodes: readonly LintNode[];
  /** Of devices that drivers publish for claims; undefined if it is not known. */
  readonly publishedResources: ReadonlySet<string> | undefined;
  /** Of the ResourceClaims that pods name; undefined if not all pods are known. */
  readonly claimNames: ReadonlySet<string> | undefined;
  /** Undefined if namespaces are not isolated, or nobody said. */
  readonly isolation: { readonly globalNamespaces: readonly string[] } | undefined;
  /** Whether every network of the cluster is known, so that one that is missing does not exist. */
  readonly isComplete: boolean;
}

export interface LintNode {
  readonly name: string;
  readonly addresses: readonly string[];
  /** Extended resources that its kubelet offers. */
  readonly resources: readonly string[];
  /** How many pods its kubelet takes; undefined if it does not say. */
  readonly podsMax: number | undefined;
  /** Whether pods without a toleration stay away. */
  readonly isTainted: boolean;
}

export const unknownCluster: LintCluster = {
  podCidrs: [],
  serviceCidrs: [],
  nodes: [],
  publishedResources: undefined,
  claimNames: undefined,
  isolation: undefined,
  isComplete: false,
};
