import type { ClusterPod } from "../facts/cluster-pod.ts";
import type { EventFacts, World } from "../facts/world.ts";
import { isStuck } from "./avalanche.ts";

/** One or two are cleaned up by the runtime's next try, or by a person who deletes the pod. */
const podsMin = 3;
/**
 * How long the runtime must have refused the same name. While an ADD is only slow, kubelet gives up after four minutes
 * and the name is free again; a name that stays taken for longer belongs to a sandbox whose DEL fails.
 */
const heldMs = 600_000;
/** Kubelet retries and writes an event at least this often. */
const freshMs = 600_000;
/** Kubelet says it at each retry. */
const timesMin = 3;

/**
 * Pods that cannot start, because the runtime of their node keeps the name of their sandbox for one that it cannot remove.
 * One for the cluster.
 */
export interface ReservedNames {
  readonly cause: "ReservedSandboxNames";
  readonly namespace: "";
  readonly shape: typeof reservedSubject;
  /** By node, then oldest first. */
  readonly members: readonly ClusterPod[];
  /** By the pod's UID, what the runtime says of it. */
  readonly held: ReadonlyMap<string, HeldName>;
  readonly sinceMs: number;
  /** Most pods first. */
  readonly nodes: ReadonlyMap<string, number>;
}

const reservedSubject = "sandbox names that stay reserved";

export interface HeldName {
  /** The sandbox that has the name, by the event; empty when the event does not say it. For display only. */
  readonly sandbox: string;
  readonly sinceMs: number;
  readonly count: number;
}

/** Counts nodes with enough such pods. `taken` are pods that another cause has. */
export function findReservedNames(world: World, taken: ReadonlySet<string>): ReservedNames | undefined {
  const held = heldNames(world.events, world.nowMs);
  if (held.size < podsMin) return undefined;
  const members: ClusterPod[] = [];
  for (const pod of world.pods) if (held.has(pod.uid) && !taken.has(pod.uid) && isHeld(pod, world)) members.push(pod);
  const nodes = [...Map.groupBy(members, ({ node }) => node)]
    .filter(([, pods]) => pods.length >= podsMin)
    .toSorted(([left, most], [right, more]) => more.length - most.length || (left < right ? -1 : 1));
  return nodes.length === 0 ? undefined : reservedOf(nodes, held);
}

/** Whether one of these pods still cannot start on its node. */
export function isStillHeld(uids: ReadonlySet<string>, world: World): boolean {
  const held = heldNames(world.events, world.nowMs);
  for (const pod of world.pods) if (uids.has(pod.uid) && held.has(pod.uid) && isHeld(pod, world)) return true;
  return false;
}

export function reservedText({ members, nodes }: ReservedNames): string {
  const [first = ""] = nodes.keys();
  const where = nodes.size === 1 ? first : `${nodes.size} nodes`;
  return `${members.length} pods on ${where} cannot start: the names of their sandboxes stay reserved`;
}

function isHeld(pod: ClusterPod, { nowMs, stuckAfterMs }: World): boolean {
  return !pod.isMirror && !pod.isDeleting && isStuck(pod, nowMs, stuckAfterMs);
}

/** The pod itself is looked at too, because any writer of events can claim this. */
function heldNames(events: readonly EventFacts[], nowMs: number): ReadonlyMap<string, HeldName> {
  const found = new Map<string, HeldName>();
  for (const event of events) {
    const { podUid, firstMs = nowMs, count, sandbox = "" } = event;
    if (podUid === "" || !isLasting(event, nowMs)) continue;
    const before = found.get(podUid);
    if (before === undefined || firstMs < before.sinceMs) found.set(podUid, { sandbox, sinceMs: firstMs, count });
  }
  return found;
}

function isLasting({ isNameReserved, firstMs, lastMs, count }: EventFacts, nowMs: number): boolean {
  if (isNameReserved !== true || firstMs === undefined || count < timesMin) return false;
  return lastMs - firstMs >= heldMs && nowMs - lastMs <= freshMs;
}

function reservedOf(
  nodes: readonly (readonly [string, readonly ClusterPod[]])[],
  held: ReadonlyMap<string, HeldName>,
): ReservedNames {
  const members = nodes.flatMap(([, pods]) =>
    pods.toSorted((left, right) => left.createdMs - right.createdMs || (left.name < right.name ? -1 : 1)),
  );
  const own = new Map<string, HeldName>();
  for (const { uid } of members) {
    const name = held.get(uid);
    if (name !== undefined) own.set(uid, name);
  }
  return {
    cause: "ReservedSandboxNames",
    namespace: "",
    shape: reservedSubject,
    members,
    held: own,
    sinceMs: Math.min(...[...own.values()].map(({ sinceMs }) => sinceMs)),
    nodes: new Map(nodes.map(([node, pods]) => [node, pods.length])),
  };
}
