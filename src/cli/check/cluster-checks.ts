import { askDaemons, type DaemonMetrics } from "../cluster/daemon-metrics.ts";
import type { Asking } from "../cluster/seen.ts";
import { takeSnapshot, type Snapshot } from "../cluster/snapshot.ts";
import type { Category } from "./cluster-line.ts";
import { cniCategory, nodeCategory } from "./cni-lines.ts";
import { decisionCategory, guardCategory } from "./guard-lines.ts";
import { apiCategory, installCategory } from "./install-lines.ts";
import { networkCategory } from "./network-category.ts";
import { podCategory } from "./pod-lines.ts";

interface LookOptions {
  readonly namespace: string;
  readonly metricsPort: number;
  readonly nowMs: number;
}

export interface ClusterLook {
  readonly snapshot: Snapshot;
  readonly metrics: DaemonMetrics;
  readonly categories: readonly Category[];
}

/** All checks of the cluster, by category; only the first category if the API server does not answer. */
export async function lookAtCluster(asking: Asking, options: LookOptions): Promise<ClusterLook> {
  const snapshot = await takeSnapshot(asking, options.namespace, options.nowMs);
  const api = apiCategory(snapshot);
  if (isClusterAway([api])) return { snapshot, metrics: { nodes: new Map(), guards: new Map() }, categories: [api] };
  const metrics = await askDaemons(asking, snapshot, options.metricsPort);
  const categories = [
    api,
    installCategory(snapshot),
    guardCategory(snapshot, metrics),
    cniCategory(snapshot, metrics),
    nodeCategory(snapshot, metrics),
    networkCategory(snapshot, metrics),
    podCategory(snapshot),
    decisionCategory(snapshot),
  ];
  return { snapshot, metrics, categories };
}

/** The API server cannot be reached, or shows this user nothing. */
export function isClusterAway(categories: readonly Category[]): boolean {
  const codes: readonly string[] = ["LVE0101", "LVE0103"];
  return categories.some(({ lines }) => lines.some(({ code, state }) => codes.includes(code) && state === "failed"));
}
