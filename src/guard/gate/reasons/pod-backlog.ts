import type { GateReason } from "../../../wire/gate-codes.ts";
import type { GateFacts, NodeBacklog } from "../gate-facts.ts";

/** Pods of one node; fewer wait on a busy node at any moment. */
const nodeMin = 10;
/** Pods of the whole cluster: the size at which the alert of a backlog fires. */
const clusterMin = 25;
const nodesMax = 5;

/**
 * Pods wait for their start, on this or another node. A reboot moves tens of pods at once and would add them to the
 * queue, as in the outage that began all this.
 */
export function podBacklog(_node: unknown, facts: GateFacts): readonly GateReason[] {
  const full = [...facts.backlog].filter(([, { pods }]) => pods >= nodeMin);
  const onNodes = full
    .toSorted(([, left], [, right]) => right.pods - left.pods)
    .slice(0, nodesMax)
    .map(([node, backlog]) => reasonOf(`Node/${node}`, `on node ${node}`, backlog));
  const all = totalOf(facts.backlog.values());
  const inCluster = full.length === 0 && all.pods >= clusterMin ? [reasonOf("Cluster", "in the cluster", all)] : [];
  return [...onNodes, ...inCluster, ...waitingCalls(facts)];
}

function reasonOf(object: string, where: string, { pods, sinceMs }: NodeBacklog): GateReason {
  return {
    code: "PodBacklog",
    message: `${pods} pods ${where} have a node and do not start`,
    sinceMs,
    object,
    remedy: "kubectl get pods -A --field-selector=status.phase=Pending; levee status shows what holds them",
  };
}

/** A storm that the daemon holds back: its queue is full before any pod counts as late. */
function waitingCalls({ nodeViews, backlog }: GateFacts): readonly GateReason[] {
  const full = [...nodeViews.values()].filter(
    ({ node, waiting }) => waiting >= nodeMin && (backlog.get(node)?.pods ?? 0) < nodeMin,
  );
  return full.slice(0, nodesMax).map(({ node, waiting, atMs }) => ({
    code: "PodBacklog",
    message: `${waiting} CNI calls wait for their turn on node ${node}`,
    sinceMs: atMs,
    object: `Node/${node}`,
    remedy: "wait until its queue is empty; levee top on that node shows what they wait for",
  }));
}

function totalOf(backlogs: Iterable<NodeBacklog>): NodeBacklog {
  let pods = 0;
  let sinceMs = Number.POSITIVE_INFINITY;
  for (const one of backlogs) {
    pods += one.pods;
    sinceMs = Math.min(sinceMs, one.sinceMs);
  }
  return { pods, sinceMs };
}
