import { isOwnerless, type PodRecord } from "../facts/pod-record.ts";

/** Fewer are never acted on; a single pod least of all. */
export const membersMin = 20;
/** A pod that is bound starts within seconds; one that still waits after this long is stuck, unless the guard is told another time. */
export const stuckAfterMs = 300_000;
/** What counts as growth when people are told about it. */
const recentMs = 1_800_000;

/** Many ownerless pods of one make in one namespace, all bound and none starting. */
export interface Avalanche {
  readonly namespace: string;
  readonly shape: string;
  /** What the clients of its members say they are, the most frequent one. */
  readonly clientSays: string;
  /** Oldest first. */
  readonly members: readonly PodRecord[];
  /** When the oldest member was made. */
  readonly sinceMs: number;
  /** Members made within the last half hour. It is an avalanche whether it grows or not. */
  readonly recent: number;
  /** Members by node, most first. */
  readonly nodes: ReadonlyMap<string, number>;
}

/**
 * Finds every avalanche, largest first. It goes by the pods' own times and needs no history, so a guard that was
 * started in the middle of the outage sees the same.
 */
export function findAvalanches(pods: Iterable<PodRecord>, nowMs: number, afterMs = stuckAfterMs): readonly Avalanche[] {
  return [...setsOf(pods, { nowMs, afterMs }, ({ namespace, shape }) => `${namespace}\n${shape}`).values()]
    .filter((set) => set.length >= membersMin)
    .map((set) => avalancheOf(set, nowMs))
    .toSorted((left, right) => right.members.length - left.members.length || left.sinceMs - right.sinceMs);
}

/**
 * How many such pods each namespace has that belong to no avalanche, where they would be enough for one: their maker gives
 * each another shape. Nothing is proposed about them, so they are told.
 */
export function findScattered(
  pods: Iterable<PodRecord>,
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
  pods: Iterable<PodRecord>,
  { nowMs, afterMs }: { readonly nowMs: number; readonly afterMs: number },
  keyOf: (pod: PodRecord) => string,
): ReadonlyMap<string, readonly PodRecord[]> {
  const sets = new Map<string, PodRecord[]>();
  for (const pod of pods) {
    if (!isMember(pod, nowMs, afterMs)) continue;
    const key = keyOf(pod);
    const set = sets.get(key);
    if (set === undefined) sets.set(key, [pod]);
    else set.push(pod);
  }
  return sets;
}

export function isMember(pod: PodRecord, nowMs: number, afterMs = stuckAfterMs): boolean {
  return isOwnerless(pod) && !pod.isExempt && !pod.isDeleting && isStuck(pod, nowMs, afterMs);
}

/**
 * Bound and Pending for too long, by its own times, and nothing of it on the node yet. Of any pod, owned or not. One that
 * has its network waits for something else: an image, a volume's init container. Kubelet does not ask the CNI for it.
 */
export function isStuck(pod: PodRecord, nowMs: number, afterMs = stuckAfterMs): boolean {
  return pod.phase === "Pending" && !pod.everRan && pod.boundMs > 0 && nowMs - pod.boundMs > afterMs;
}

function avalancheOf(set: readonly PodRecord[], nowMs: number): Avalanche {
  const members = set.toSorted((left, right) => left.createdMs - right.createdMs || (left.name < right.name ? -1 : 1));
  const [oldest] = members;
  if (oldest === undefined) throw new RangeError("An avalanche has members");
  return {
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
function countsOf(pods: readonly PodRecord[], valueOf: (pod: PodRecord) => string): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const pod of pods) counts.set(valueOf(pod), (counts.get(valueOf(pod)) ?? 0) + 1);
  return new Map([...counts].toSorted(([left, most], [right, more]) => more - most || (left < right ? -1 : 1)));
}
