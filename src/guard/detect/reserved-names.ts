import type { ClusterPod } from "../facts/cluster-pod.ts";
import type { GuardSettings } from "../facts/guard-settings.ts";
import type { EventFacts, World } from "../facts/world.ts";
import { isStuck, stuckAfterMs } from "./avalanche.ts";

/** One or two are cleaned up by the runtime's next try, or by a person who deletes the pod. */
export const reservedMin = 3;
/**
 * How long it must have lasted, in times after which a pod is stuck: ten minutes. While an ADD is only slow, kubelet gives
 * up after four minutes and the name is free again; a name that stays taken for longer belongs to a sandbox whose DEL fails.
 */
const heldTimes = 2;
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
  /**
   * What kubelet says. `Name`: the runtime refuses the pod its name. `Change`: the pod needs a new sandbox, and the old one
   * cannot be removed before. `Removal`: the pod is being deleted, and its sandbox cannot be removed.
   */
  readonly why: "Name" | "Change" | "Removal";
  /** The sandbox that has the name, by the event; empty when the event does not say it. For display only. */
  readonly sandbox: string;
  readonly sinceMs: number;
  readonly count: number;
}

/** Counts nodes with enough such pods. `taken` are pods that another cause has. */
export function findReservedNames(
  world: World,
  settings: GuardSettings,
  taken: ReadonlySet<string>,
): ReservedNames | undefined {
  const held = heldNames(world, settings);
  if (held.size < reservedMin) return undefined;
  const members: ClusterPod[] = [];
  for (const pod of world.pods) if (!taken.has(pod.uid) && isHeld(pod, held.get(pod.uid), world)) members.push(pod);
  const nodes = [...Map.groupBy(members, ({ node }) => node)]
    .filter(([, pods]) => pods.length >= reservedMin)
    .toSorted(([left, most], [right, more]) => more.length - most.length || (left < right ? -1 : 1));
  return nodes.length === 0 ? undefined : reservedOf(nodes, held);
}

/** Which of these pods still cannot start or end on their nodes. */
export function stillHeld(uids: ReadonlySet<string>, world: World, settings: GuardSettings): ReadonlySet<string> {
  const held = heldNames(world, settings);
  const found = new Set<string>();
  for (const pod of world.pods) if (uids.has(pod.uid) && isHeld(pod, held.get(pod.uid), world)) found.add(pod.uid);
  return found;
}

export function reservedText({ members, nodes, held }: ReservedNames): string {
  const [first = ""] = nodes.keys();
  const where = nodes.size === 1 ? first : `${nodes.size} nodes`;
  return [...held.values()].every(({ why }) => why === "Name")
    ? `${members.length} pods on ${where} cannot start: the names of their sandboxes stay reserved`
    : `${members.length} pods on ${where} cannot start or end: the runtime cannot remove their sandboxes`;
}

/** The pod itself is looked at too, because any writer of events can claim this. */
function isHeld(pod: ClusterPod, held: HeldName | undefined, { nowMs, stuckAfterMs }: World): boolean {
  if (held === undefined || pod.isMirror) return false;
  return held.why === "Removal" ? pod.isDeleting : !pod.isDeleting && isStuck(pod, nowMs, stuckAfterMs);
}

function heldNames(world: World, settings: GuardSettings): ReadonlyMap<string, HeldName> {
  const found = new Map<string, HeldName>();
  const add = (event: EventFacts, why: HeldName["why"]): void => {
    const { podUid, firstMs = world.nowMs, count, sandbox = "" } = event;
    if (podUid === "" || !isLasting(event, world)) return;
    const before = found.get(podUid);
    if (before === undefined || firstMs < before.sinceMs) found.set(podUid, { why, sandbox, sinceMs: firstMs, count });
  };
  for (const event of world.events) if (event.isNameReserved === true) add(event, "Name");
  const removals = world.removalEvents ?? [];
  if (removals.length === 0) return found;
  const sick = sickNodes(world, settings);
  for (const event of removals)
    if (!sick.has(event.node)) add(event, event.reason === "FailedKillPod" ? "Removal" : "Change");
  return found;
}

/** Nodes whose CNI daemon is down or was killed: while it cannot carry out a DEL, the sandboxes are not what is wrong. */
function sickNodes({ pods, nowMs, stuckAfterMs }: World, { cniDaemons }: GuardSettings): ReadonlySet<string> {
  const daemons = new Set(cniDaemons.map((one) => `${one.namespace}/DaemonSet/${one.daemonSet}`));
  const lastMs = nowMs - heldMsOf(stuckAfterMs);
  const sick = new Set<string>();
  for (const { namespace, owner, node, isReady, oomKilledMs } of pods)
    if (daemons.has(`${namespace}/${owner}`) && (isReady !== true || oomKilledMs > lastMs)) sick.add(node);
  return sick;
}

function isLasting(
  { firstMs, lastMs, count }: EventFacts,
  { nowMs, stuckAfterMs }: Pick<World, "nowMs" | "stuckAfterMs">,
): boolean {
  if (firstMs === undefined || count < timesMin) return false;
  return lastMs - firstMs >= heldMsOf(stuckAfterMs) && nowMs - lastMs <= freshMs;
}

function heldMsOf(afterMs = stuckAfterMs): number {
  return heldTimes * afterMs;
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
