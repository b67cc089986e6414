import type { ClusterPod } from "./facts/cluster-pod.ts";
import { podShape } from "./facts/pod-shape.ts";
import type { World } from "./facts/world.ts";

/** More than an hour after the first pod of the outage. */
export const nowMs = Date.parse("2026-05-10T19:00:00Z");
export const minuteMs = 60_000;
const generateName = "rd-browser-only-";
const shape = podShape({ generateName }, {});

/** These pods as the API server lists them. */
export function podList(pods: Iterable<ClusterPod>): object {
  const items = [...pods].map(({ namespace, name, uid, phase, node }) => ({
    metadata: { namespace, name, uid, generateName },
    spec: { nodeName: node },
    status: {
      phase,
      conditions: [{ type: "PodScheduled", status: "True", lastTransitionTime: new Date(nowMs).toISOString() }],
    },
  }));
  return { metadata: { resourceVersion: "1" }, items };
}

/** An ownerless pod, bound and Pending for an hour, with the test's changes. */
export function stuckPod(name: string, changes: Partial<ClusterPod> = {}): ClusterPod {
  return {
    namespace: "fc-desktop",
    name,
    uid: `uid-${name}`,
    phase: "Pending",
    node: "rke2-agent1",
    createdMs: nowMs - 60 * minuteMs,
    boundMs: nowMs - 60 * minuteMs,
    owner: "",
    shape,
    clientSays: "RemoteDesktop",
    isMirror: false,
    isExempt: false,
    isDeleting: false,
    everRan: false,
    restarts: 0,
    oomKilledMs: 0,
    ...changes,
  };
}

/** A pod of a workload that runs, with the test's changes. */
export function readyPod(name: string, changes: Partial<ClusterPod> = {}): ClusterPod {
  return stuckPod(name, {
    phase: "Running",
    owner: "ReplicaSet/web",
    shape: "",
    everRan: true,
    isReady: true,
    ...changes,
  });
}

/** `count` pods of one shape on three nodes, one created every 10 s, the last of them 6 minutes ago. */
export function outagePods(count: number, changes: Partial<ClusterPod> = {}): ClusterPod[] {
  return Array.from({ length: count }, (_, index) => {
    const madeMs = nowMs - 6 * minuteMs - (count - index) * 10_000;
    const node = `rke2-agent${(index % 3) + 1}`;
    return stuckPod(`rd-browser-only-${String(index).padStart(4, "0")}`, {
      node,
      createdMs: madeMs,
      boundMs: madeMs,
      ...changes,
    });
  });
}

/** A quiet cluster with the test's additions. */
export function world(facts: Partial<World> = {}): World {
  return {
    nowMs,
    pods: [],
    nodes: ["rke2-agent1", "rke2-agent2", "rke2-agent3"].map((name) => ({
      name,
      isReady: true,
      memoryBytes: 64 * 2 ** 30,
      address: "",
    })),
    namespaces: [{ name: "fc-desktop", labels: {} }],
    daemonSets: [],
    deployments: [],
    services: [],
    events: [],
    applications: [],
    projects: [],
    alerts: [],
    nodeViews: [],
    decisions: [],
    isOwnerPolicyInstalled: true,
    gitFiles: [],
    notes: [],
    ...facts,
  };
}
