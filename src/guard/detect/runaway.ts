import type { ClusterPod } from "../facts/cluster-pod.ts";
import type { GuardSettings } from "../facts/guard-settings.ts";
import type { World } from "../facts/world.ts";
import { isStuck, membersMin, recentMs } from "./avalanche.ts";
import { stormShare, unhealthyShare } from "./cni-health.ts";
import { foreignText } from "./foreign-text.ts";
import { cronJobAbove, topOwnerOf, type TopOwner } from "./top-owner.ts";

/** So many unfinished Jobs with stuck pods are the CronJob's doing; fewer are Jobs of their own. */
const jobsOfCronJobMin = 3;
/** Of all stuck pods on its nodes. With less, the nodes have a trouble that is not this workload's. */
const stuckShare = 1 / 3;
/** Of its pods. One that failed in passing says nothing about the others, which may wait for a volume. */
const refusedMin = membersMin / 2;
/** The CRD's limit; owner references can hold anything. */
const shapeCharsMax = 512;
/** Waiting calls on one node that count as load. */
const waitingMin = 10;
/** One pod per node: its number is the cluster's. */
const neverRunaway: ReadonlySet<string> = new Set(["DaemonSet", "Node"]);

/** Many pods of one owner that do not start, and most of what it has. */
export interface Runaway {
  readonly cause: "RunawayWorkload";
  readonly namespace: string;
  /** `Job/nightly`, by which later rounds find it again. */
  readonly shape: string;
  readonly owner: TopOwner;
  /** Of a CronJob, its unfinished Jobs with stuck pods. */
  readonly jobs: readonly StuckJob[];
  /** Its stuck pods, oldest first. */
  readonly members: readonly ClusterPod[];
  readonly sinceMs: number;
  readonly recent: number;
  readonly nodes: ReadonlyMap<string, number>;
  /** Its other pods that have not ended; most of them run. */
  readonly started: number;
}

interface StuckJob {
  readonly owner: TopOwner;
  readonly stuck: number;
  readonly started: number;
}

/**
 * Finds every runaway, largest first. `taken` are pods that another cause has: no pod has two. It uses the pods' own times
 * and no history, as for avalanches.
 */
export function findRunaways(world: World, settings: GuardSettings, taken: ReadonlySet<string>): readonly Runaway[] {
  if (world.owners === undefined) return [];
  const counts = countPods(world, taken);
  return mergeJobs([...counts.owners.values()], world)
    .filter(({ members, started }) => members.length >= membersMin && members.length >= started)
    .filter(({ owner }) => !neverRunaway.has(owner.kind) && owner.isSuspended !== true)
    .map((group) => runawayOf(group, world.nowMs))
    .filter((runaway) => isOfItsOwn(runaway, counts.stuckOn) && asksForNetwork(runaway, world, settings))
    .toSorted((left, right) => right.members.length - left.members.length || left.sinceMs - right.sinceMs);
}

export function runawayText({ namespace, owner, members }: Runaway): string {
  return `${members.length} pods of ${owner.kind} ${namespace}/${owner.name} do not start`;
}

/** A pod of this workload, by the text in a Decision: of a CronJob the pods of all its Jobs. */
export function isOfOwner(pod: ClusterPod, shape: string, world: World): boolean {
  if (pod.owner === "" || pod.isMirror) return false;
  if (pod.owner === shape) return true;
  const owner = topOwnerOf(pod, world);
  if (shapeOf(owner) === shape) return true;
  return owner.marks.above === shape && shape.startsWith("CronJob/");
}

function shapeOf({ kind, name }: TopOwner): string {
  return foreignText(`${kind}/${name}`, shapeCharsMax);
}

interface OwnerGroup {
  readonly owner: TopOwner;
  readonly jobs: readonly StuckJob[];
  readonly members: ClusterPod[];
  started: number;
}

interface PodCounts {
  readonly owners: ReadonlyMap<string, OwnerGroup>;
  /** Stuck pods by node, with or without an owner. */
  readonly stuckOn: ReadonlyMap<string, number>;
}

function countPods(world: World, taken: ReadonlySet<string>): PodCounts {
  const owners = new Map<string, OwnerGroup>();
  const stuckOn = new Map<string, number>();
  // Pods of one owner share its text: each is looked up once.
  const known = new Map<string, OwnerGroup>();
  for (const pod of world.pods) {
    if (!isLive(pod)) continue;
    const isLate = isStuck(pod, world.nowMs, world.stuckAfterMs);
    if (isLate) stuckOn.set(pod.node, (stuckOn.get(pod.node) ?? 0) + 1);
    if (pod.owner === "") continue;
    const group = groupOf(pod, world, { owners, known });
    if (!isLate) group.started += pod.everRan ? 1 : 0;
    else if (!taken.has(pod.uid)) group.members.push(pod);
  }
  return { owners, stuckOn };
}

export function isLive({ isMirror, isDeleting, phase }: ClusterPod): boolean {
  return !isMirror && !isDeleting && phase !== "Succeeded" && phase !== "Failed";
}

function groupOf(
  pod: ClusterPod,
  world: World,
  { owners, known }: { readonly owners: Map<string, OwnerGroup>; readonly known: Map<string, OwnerGroup> },
): OwnerGroup {
  const key = `${pod.namespace}/${pod.owner}`;
  const found = known.get(key);
  if (found !== undefined) return found;
  const owner = topOwnerOf(pod, world);
  const top = `${owner.namespace}/${owner.kind}/${owner.name}`;
  const group = owners.get(top) ?? { owner, jobs: [], members: [], started: 0 };
  owners.set(top, group);
  known.set(key, group);
  return group;
}

/** Several Jobs of one CronJob that do not start become one group of the CronJob. */
function mergeJobs(groups: readonly OwnerGroup[], world: World): readonly OwnerGroup[] {
  const stuck = groups.filter(({ members }) => members.length > 0);
  const parents = Map.groupBy(stuck, ({ owner }) => `${owner.namespace}/${owner.marks.above}`);
  const merged: OwnerGroup[] = [];
  const gone = new Set<OwnerGroup>();
  for (const jobs of parents.values()) {
    const [first] = jobs;
    const owner = first === undefined ? undefined : cronJobAbove(first.owner, world);
    if (owner === undefined || jobs.length < jobsOfCronJobMin) continue;
    for (const job of jobs) gone.add(job);
    merged.push({
      owner,
      jobs: jobs.map((job) => ({ owner: job.owner, stuck: job.members.length, started: job.started })),
      members: jobs.flatMap(({ members }) => members),
      started: jobs.reduce((sum, { started }) => sum + started, 0),
    });
  }
  return [...stuck.filter((group) => !gone.has(group)), ...merged];
}

function runawayOf({ owner, jobs, members: found, started }: OwnerGroup, nowMs: number): Runaway {
  const members = found.toSorted(
    (left, right) => left.createdMs - right.createdMs || (left.name < right.name ? -1 : 1),
  );
  const nodes = new Map<string, number>();
  for (const { node } of members) nodes.set(node, (nodes.get(node) ?? 0) + 1);
  return {
    cause: "RunawayWorkload",
    namespace: owner.namespace,
    shape: shapeOf(owner),
    owner,
    jobs,
    members,
    sinceMs: members[0]?.createdMs ?? nowMs,
    recent: members.filter(({ createdMs }) => nowMs - createdMs < recentMs).length,
    nodes: new Map([...nodes].toSorted(([left, most], [right, more]) => more - most || (left < right ? -1 : 1))),
    started,
  };
}

/** Not one of many workloads that a broken node keeps from starting. */
function isOfItsOwn({ members, nodes }: Runaway, stuckOn: ReadonlyMap<string, number>): boolean {
  let all = 0;
  for (const node of nodes.keys()) all += stuckOn.get(node) ?? 0;
  return members.length >= all * stuckShare;
}

/**
 * Kubelet asks for their network: a sandbox could not be created, calls wait, or a CNI daemon was killed. Pods that wait
 * for a volume ask for nothing. Where the daemons fail without being killed for memory, they are the cause and not these.
 */
function asksForNetwork({ members, nodes, sinceMs }: Runaway, world: World, settings: GuardSettings): boolean {
  const daemons = new Set(settings.cniDaemons.map((one) => `${one.namespace}/DaemonSet/${one.daemonSet}`));
  for (const { oomKilledMs, node, namespace, owner } of world.pods)
    if (oomKilledMs >= sinceMs && nodes.has(node) && daemons.has(`${namespace}/${owner}`)) return true;
  if (unhealthyShare(world, settings) > stormShare) return false;
  const uids = new Set(members.map(({ uid }) => uid));
  const refused = new Set<string>();
  for (const { podUid, lastMs } of world.events) if (uids.has(podUid) && lastMs >= sinceMs) refused.add(podUid);
  return (
    refused.size >= refusedMin || world.nodeViews.some(({ node, waiting }) => nodes.has(node) && waiting >= waitingMin)
  );
}
