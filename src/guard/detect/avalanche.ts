import { isOwnerless, type ClusterPod } from "../facts/cluster-pod.ts";

/** The guard never acts on fewer pods. */
export const membersMin = 20;
/** A bound pod starts within seconds; after this long it is stuck, unless the guard was told another time. */
export const stuckAfterMs = 300_000;
/** Members younger than this count as growth in the texts for people. */
export const recentMs = 1_800_000;

/** Many ownerless pods of one template in one namespace, all bound to nodes and not starting. */
export interface Avalanche {
  readonly cause: "OwnerlessPodAvalanche";
  readonly namespace: string;
  readonly shape: string;
  /** The most frequent client name among its members. */
  readonly clientSays: string;
  /** Oldest first. */
  readonly members: readonly ClusterPod[];
  /** When the oldest member was created. */
  readonly sinceMs: number;
  /** Members created within the last half hour; 0 for an avalanche that no longer grows. */
  readonly recent: number;
  /** Members by node, most first. */
  readonly nodes: ReadonlyMap<string, number>;
}

/**
 * Finds every avalanche, largest first. It uses the pods' own times and no history, so a guard that starts in the middle
 * of an outage sees the same.
 */
export function findAvalanches(
  pods: Iterable<ClusterPod>,
  nowMs: number,
  afterMs = stuckAfterMs,
): readonly Avalanche[] {
  return [...setsOf(pods, { nowMs, afterMs }, ({ namespace, shape }) => `${namespace}\n${shape}`).values()]
    .filter((set) => set.length >= membersMin)
    .map((set) => avalancheOf(set, nowMs))
    .toSorted((left, right) => right.members.length - left.members.length || left.sinceMs - right.sinceMs);
}

/**
 * For each namespace, the number of such pods outside of any avalanche, if they are enough for one. Their creator gives
 * each a different shape. The guard proposes nothing about them, so a metric shows them.
 */
export function findScattered(
  pods: Iterable<ClusterPod>,
  nowMs: number,
  afterMs = stuckAfterMs,
): ReadonlyMap<string, number> {
  const found = new Map<string, number>();
  for (const [namespace, all] of setsOf(pods, { nowMs, afterMs }, (pod) => pod.namespace)) {
    if (all.length < membersMin) continue;
    const inSets = findAvalanches(all, nowMs, afterMs).reduce((sum, { members }) => sum + members.length, 0);
    if (all.length - inSets >= membersMin) found.set(namespace, all.length - inSets);
  }
  return found;
}

function setsOf(
  pods: Iterable<ClusterPod>,
  { nowMs, afterMs }: { readonly nowMs: number; readonly afterMs: number },
  keyOf: (pod: ClusterPod) => string,
): ReadonlyMap<string, readonly ClusterPod[]> {
  const sets = new Map<string, ClusterPod[]>();
  for (const pod of pods) {
    if (!isMember(pod, nowMs, afterMs)) continue;
    const key = keyOf(pod);
    const set = sets.get(key);
    if (set === undefined) sets.set(key, [pod]);
    else set.push(pod);
  }
  return sets;
}

export function isMember(pod: ClusterPod, nowMs: number, afterMs = stuckAfterMs): boolean {
  return isOwnerless(pod) && !pod.isExempt && !pod.isDeleting && isStuck(pod, nowMs, afterMs);
}

/**
 * Bound and Pending for too long by its own times, with nothing of it on the node yet; any pod, with or without an owner.
 * A pod that has its network waits for something else (an image, a volume), and kubelet makes no CNI calls for it.
 */
export function isStuck(pod: ClusterPod, nowMs: number, afterMs = stuckAfterMs): boolean {
  return pod.phase === "Pending" && !pod.everRan && pod.boundMs > 0 && nowMs - pod.boundMs > afterMs;
}

function avalancheOf(set: readonly ClusterPod[], nowMs: number): Avalanche {
  const members = set.toSorted((left, right) => left.createdMs - right.createdMs || (left.name < right.name ? -1 : 1));
  const [oldest] = members;
  if (oldest === undefined) throw new RangeError("Cannot describe an avalanche without members");
  return {
    cause: "OwnerlessPodAvalanche",
    namespace: oldest.namespace,
    shape: oldest.shape,
    clientSays: [...countsOf(members, (pod) => pod.clientSays).keys()][0] ?? "",
    members,
    sinceMs: oldest.createdMs,
    recent: members.filter((pod) => nowMs - pod.createdMs < recentMs).length,
    nodes: countsOf(members, (pod) => pod.node),
  };
}

/** How often each value occurs, most frequent first. */
function countsOf(pods: readonly ClusterPod[], valueOf: (pod: ClusterPod) => string): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const pod of pods) counts.set(valueOf(pod), (counts.get(valueOf(pod)) ?? 0) + 1);
  return new Map([...counts].toSorted(([left, most], [right, more]) => more - most || (left < right ? -1 : 1)));
}
