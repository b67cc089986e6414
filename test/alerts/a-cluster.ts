import { podSeries, series, type PodLife, type Series } from "./series.ts";

/** Three nodes as in the outage that these alerts were written after. */
export const nodes = ["server", "agent1", "agent2"] as const;
export type Node = (typeof nodes)[number];

const mebibyte = 1024 * 1024;
const never = (): boolean => false;

export interface CniDaemon {
  readonly node: Node;
  /** Its pod; the node's usual one unless told. */
  readonly pod?: string;
  readonly limitMiB: number;
  /** Working set while it lives. */
  readonly usedMiB: (minute: number) => number;
  /** Minutes in which it is killed for memory. A minute later it is back. */
  readonly killed?: (minute: number) => boolean;
}

/** Multus' daemon on one node, as cAdvisor and kube-state-metrics tell of it. */
export function multus({
  node,
  pod = multusPod(node),
  limitMiB,
  usedMiB,
  killed = never,
}: CniDaemon): readonly Series[] {
  const labels = { namespace: "kube-system", pod, container: "kube-multus" };
  const kills = (minute: number): number =>
    Array.from({ length: minute + 1 }, (_, each) => each).filter((each) => killed(each)).length;
  return [
    series("kube_pod_info", { namespace: labels.namespace, pod: labels.pod, node, pod_ip: "10.0.0.1" }, 1),
    // Dead in the minute of its death: no sample.
    series("container_memory_working_set_bytes", labels, (minute) =>
      killed(minute) ? undefined : usedMiB(minute) * mebibyte,
    ),
    series("kube_pod_container_resource_limits", { ...labels, resource: "memory" }, limitMiB * mebibyte),
    series("kube_pod_container_status_restarts_total", labels, kills),
    series("kube_pod_container_status_last_terminated_reason", { ...labels, reason: "OOMKilled" }, (minute) =>
      kills(minute) > 0 ? 1 : undefined,
    ),
  ];
}

export function multusPod(node: Node): string {
  return `kube-multus-ds-${node}`;
}

/** The kubelet's counters, per minute: sandboxes asked for and failed. */
export function kubelet(
  node: Node,
  perMinute: (minute: number) => { readonly asked: number; readonly failed: number },
): readonly Series[] {
  const instance = instanceOf(node);
  const sum = (what: "asked" | "failed") => (minute: number) =>
    Array.from({ length: minute + 1 }, (_, each) => perMinute(each)[what]).reduce((all, each) => all + each, 0);
  const labels = { instance, operation_type: "run_podsandbox" };
  return [
    series("kubelet_node_name", { instance, node }, 1),
    series("kubelet_runtime_operations_total", labels, sum("asked")),
    series("kubelet_runtime_operations_errors_total", labels, sum("failed")),
  ];
}

function instanceOf(node: Node): string {
  return `10.0.0.${nodes.indexOf(node) + 1}:10250`;
}

/** Applications of Argo CD; `unknown` says how many of them are Unknown. */
export function argoApps(count: number, unknown: (minute: number) => number): readonly Series[] {
  return Array.from({ length: count }, (_, index) => {
    const labels = { namespace: "argocd", name: `app-${index}` };
    const isUnknown = (minute: number): boolean => index < unknown(minute);
    return [
      series("argocd_app_info", { ...labels, sync_status: "Synced" }, (minute) => (isUnknown(minute) ? undefined : 1)),
      series("argocd_app_info", { ...labels, sync_status: "Unknown" }, (minute) => (isUnknown(minute) ? 1 : undefined)),
    ];
  }).flat();
}

/** Pods made alike: `life` says when each is bound, running and gone. */
export function pods(
  count: number,
  kind: Pick<PodLife, "namespace" | "owner"> & { readonly prefix: string },
  life: (index: number) => Pick<PodLife, "bound" | "addressed" | "running" | "succeeded" | "gone">,
): readonly Series[] {
  return Array.from({ length: count }, (_, index) =>
    podSeries({
      namespace: kind.namespace,
      owner: kind.owner,
      name: `${kind.prefix}-${index}`,
      node: nodes[index % nodes.length] ?? "server",
      ...life(index),
    }),
  ).flat();
}

/** A cluster in which nothing happens: all daemons well, a few pods, Argo CD in step. */
export function calm(): readonly Series[] {
  return [
    ...nodes.flatMap((node) => multus({ node, limitMiB: 50, usedMiB: () => 24 })),
    ...nodes.flatMap((node) => kubelet(node, () => ({ asked: 1, failed: 0 }))),
    ...argoApps(20, () => 0),
    ...pods(6, { namespace: "shop", owner: "ReplicaSet", prefix: "web" }, () => ({ bound: -600, running: -599 })),
  ];
}

/** Just enough for a long replay in which the alerts are not blind. */
export function barely(): readonly Series[] {
  return [
    ...multus({ node: "server", limitMiB: 50, usedMiB: () => 24 }),
    ...pods(1, { namespace: "shop", owner: "ReplicaSet", prefix: "web" }, () => ({ bound: -600, running: -599 })),
  ];
}
