import type { GuardSettings } from "../facts/guard-settings.ts";
import type { ClusterPod } from "../facts/cluster-pod.ts";
import type { World } from "../facts/world.ts";
import { findStuckWorkloads, type StuckWorkload } from "./stuck-workloads.ts";

/** Kubelet's reason for a sandbox that it could not create. */
const sandboxReason = "FailedCreatePodSandBox";
/** The share of all Applications; below it, each has a problem of its own. */
const unknownShare = 0.5;

/** A fault seen in objects, not in texts. */
export type Symptom =
  | { readonly kind: "CniDaemonKilled"; readonly node: string; readonly daemon: ClusterPod; readonly daemonSet: string }
  | { readonly kind: "SandboxesFail"; readonly node: string; readonly count: number; readonly lastMs: number }
  | { readonly kind: "WorkloadStuck"; readonly workload: StuckWorkload }
  | {
      readonly kind: "ApplicationsUnknown";
      readonly unknown: number;
      readonly total: number;
      /** When the first of their errors began; 0 when unknown. */
      readonly sinceMs: number;
      readonly namespaces: ReadonlySet<string>;
    };

export function findSymptoms(world: World, settings: GuardSettings): readonly Symptom[] {
  return [
    ...killedDaemons(world, settings),
    ...failingSandboxes(world),
    ...findStuckWorkloads(world).map((workload): Symptom => ({ kind: "WorkloadStuck", workload })),
    ...unknownApplications(world),
  ];
}

export function symptomText(symptom: Symptom): string {
  switch (symptom.kind) {
    case "CniDaemonKilled":
      return `${symptom.daemonSet} on ${symptom.node} is OOM-killed (${symptom.daemon.restarts} restarts)`;
    case "SandboxesFail":
      return `sandboxes cannot be created on ${symptom.node} (${symptom.count} times)`;
    case "WorkloadStuck": {
      const { kind, namespace, name, pods } = symptom.workload;
      const stuck = pods.length === 1 ? "a pod that does not start" : `${pods.length} pods that do not start`;
      return `${kind} ${namespace}/${name} has ${stuck}`;
    }
    case "ApplicationsUnknown":
      return `${symptom.unknown} of ${symptom.total} Argo CD Applications are Unknown`;
  }
}

function killedDaemons({ pods }: World, { cniDaemons }: GuardSettings): readonly Symptom[] {
  const owners = new Map(
    cniDaemons.map(({ namespace, daemonSet }) => [`${namespace}/DaemonSet/${daemonSet}`, daemonSet]),
  );
  const found: Symptom[] = [];
  for (const pod of pods) {
    if (pod.oomKilledMs === 0) continue;
    const daemonSet = owners.get(`${pod.namespace}/${pod.owner}`);
    if (daemonSet === undefined) continue;
    found.push({ kind: "CniDaemonKilled", node: pod.node, daemon: pod, daemonSet: `${pod.namespace}/${daemonSet}` });
  }
  return found;
}

function failingSandboxes({ events }: World): readonly Symptom[] {
  const nodes = new Map<string, { count: number; lastMs: number }>();
  for (const event of events) {
    if (event.reason !== sandboxReason || event.node === "") continue;
    const seen = nodes.get(event.node) ?? { count: 0, lastMs: 0 };
    nodes.set(event.node, { count: seen.count + event.count, lastMs: Math.max(seen.lastMs, event.lastMs) });
  }
  return [...nodes].map(([node, seen]): Symptom => ({ kind: "SandboxesFail", node, ...seen }));
}

function unknownApplications({ applications }: World): readonly Symptom[] {
  const unknown = applications.filter(({ sync }) => sync === "Unknown");
  if (unknown.length === 0 || unknown.length <= applications.length * unknownShare) return [];
  const errors = unknown.map(({ comparisonErrorMs }) => comparisonErrorMs).filter((ms) => ms > 0);
  return [
    {
      kind: "ApplicationsUnknown",
      unknown: unknown.length,
      total: applications.length,
      sinceMs: errors.length === 0 ? 0 : Math.min(...errors),
      namespaces: new Set(unknown.map(({ namespace }) => namespace)),
    },
  ];
}
