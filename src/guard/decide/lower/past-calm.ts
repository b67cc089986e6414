import type { ClusterPod } from "../../facts/cluster-pod.ts";
import type { MemoryCalm } from "../../facts/memory-calm.ts";
import type { MemoryPast } from "../../facts/memory-past.ts";
import type { World } from "../../facts/world.ts";
import { timeText } from "../../json-values.ts";
import { stuckText, calmKey, disturbedAt, gapMaxMs, killedText, pressureShare, type Watched } from "./memory-calm.ts";

const quarterMs = 900_000;
/** From the creation of a pod to its first sample. */
const firstSampleMs = 300_000;

/** What Prometheus has of a container whose pods tell nothing themselves; undefined while it has not been asked. */
export function pastOf(watched: Watched, { memoryPasts = [] }: World): MemoryPast | undefined {
  if (watched.views.length > 0) return undefined;
  return memoryPasts.find(({ key, limit }) => key === calmKey(watched) && limit === watched.limit);
}

/**
 * What is known of a container's calm when Prometheus has watched it. Whether the guard was there does not matter, but for
 * a backlog: Prometheus does not know of it.
 */
export function pastCalm(watched: Watched, before: MemoryCalm | undefined, past: MemoryPast, world: World): MemoryCalm {
  const { nowMs } = world;
  const disturbedMs = disturbedAt(watched, before, world);
  const known = { key: calmKey(watched), limit: watched.limit, coveredMs: Math.min(nowMs, past.atMs), kills: {} };
  const whole = { ...known, disturbedMs, isOfPrometheus: true } as const;
  const broken = pastProblem(watched, past, world);
  if (broken !== undefined) return { ...whole, sinceMs: nowMs, peakBytes: 0, peakNode: "", broken };
  const peakNode = watched.pods.find(({ name }) => name === past.peakPod)?.node ?? past.peakPod;
  const sinceMs = Math.max(past.fromMs, disturbedMs);
  return { ...whole, sinceMs, peakBytes: past.peakBytes, peakNode, broken: "" };
}

function pastProblem(watched: Watched, past: MemoryPast, world: World): string | undefined {
  // One answer that is missing does not end a proposal.
  if (world.nowMs - past.atMs > gapMaxMs) return `Prometheus cannot be asked: ${past.unread}`;
  return (
    killedText(watched.pods, past.fromMs) ??
    pastPressure(watched, past) ??
    coverProblem(watched, past, world) ??
    stuckText(world)
  );
}

function pastPressure({ limitBytes, limit }: Watched, past: MemoryPast): string | undefined {
  const since = timeText(past.fromMs);
  if (past.killed.length > 0)
    return `by Prometheus, a process was killed for memory since ${since} in ${past.killed.join(", ")}`;
  if (past.peakBytes > limitBytes * pressureShare)
    return `by Prometheus, ${past.peakPod} used more than ${pressureShare * 100} % of ${limit} since ${since}`;
  return undefined;
}

/** Why Prometheus has not seen every pod for the whole time. */
function coverProblem({ pods, daemonSet }: Watched, past: MemoryPast, { nodes }: World): string | undefined {
  if (pods.length === 0 || pods.length < daemonSet.desired) return "not every node has a pod of it";
  if (past.peakBytes === 0) return "Prometheus has no container_memory_working_set_bytes of it";
  const newNodes = new Set(nodes.flatMap(({ name, createdMs = 0 }) => (createdMs > past.fromMs ? [name] : [])));
  for (const pod of pods) {
    const problem = podProblem(pod, past, newNodes.has(pod.node));
    if (problem !== undefined) return problem;
  }
  return past.counted >= pods.length
    ? undefined
    : `Prometheus has a counter of kills for ${past.counted} of ${pods.length} pods (container_oom_events_total, or kube-state-metrics)`;
}

function podProblem({ name, createdMs }: ClusterPod, past: MemoryPast, isNodeNew: boolean): string | undefined {
  // What ran on a node before its pod was replaced cannot be told by the pod's name.
  if (createdMs > past.fromMs && !isNodeNew) return `${name} is there since ${timeText(createdMs)} only`;
  const wanted = quartersIn(Math.max(createdMs + firstSampleMs, past.fromMs), past.atMs);
  const missing = wanted - (past.quarters.get(name) ?? 0);
  if (missing <= 0) return undefined;
  return `Prometheus has no sample of ${name} in ${missing} of ${wanted} quarters of an hour since ${timeText(past.fromMs)}`;
}

/** The whole quarters by the clock; Prometheus aligns its steps in the same way. */
function quartersIn(fromMs: number, toMs: number): number {
  return Math.max(0, Math.floor(toMs / quarterMs) - Math.ceil(fromMs / quarterMs));
}
