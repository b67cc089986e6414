import { isStuck, membersMin } from "../../detect/avalanche.ts";
import type { ClusterPod } from "../../facts/cluster-pod.ts";
import type { GuardSettings } from "../../facts/guard-settings.ts";
import { memoryBytes } from "../../facts/memory-quantity.ts";
import type { MemoryCalm } from "../../facts/memory-calm.ts";
import type { DaemonSetFacts, NodeViewFacts, World } from "../../facts/world.ts";
import { timeText } from "../../json-values.ts";

/** A node that is rebooted, or a guard that is replaced, is back sooner. */
export const gapMaxMs = 1_800_000;
/** Above this share of the limit, a little more load ends in a kill. */
export const pressureShare = 0.75;
/** The kernel rounds a limit to whole pages. */
const pageBytes = 4_096;
/** More nodes with kills than this are a fault of their own; the record stays small. */
const killsMax = 100;

/** When each pod of a daemon last told what it uses, by node. Kept by the process, not over restarts. */
export type HeardAt = Map<string, number>;

/** One container whose memory the guard has set, with the pods that run it. */
export interface Watched {
  readonly daemonSet: DaemonSetFacts;
  readonly container: string;
  readonly limit: string;
  readonly limitBytes: number;
  readonly pods: readonly ClusterPod[];
  /** Of its nodes, and of this daemon. */
  readonly views: readonly NodeViewFacts[];
  /** By the views, or by Prometheus where there are none. */
  readonly uses: readonly MemoryUse[];
}

interface MemoryUse {
  readonly node: string;
  readonly atMs: number;
  readonly usedBytes: number;
}

export function calmKey({ daemonSet, container }: Pick<Watched, "daemonSet" | "container">): string {
  return `${daemonSet.uid}/${container}`;
}

/** The CNI daemons whose memory the guard has set and nobody has changed since. */
export function watchedNow(world: World, { cniDaemons }: GuardSettings): readonly Watched[] {
  return cniDaemons.flatMap(({ namespace, daemonSet: name, container }) => {
    const daemonSet = world.daemonSets.find((one) => one.namespace === namespace && one.name === name);
    const mark = daemonSet?.memoryMarks?.[container];
    const limitBytes = memoryBytes(mark?.limit ?? "");
    if (daemonSet === undefined || mark === undefined || limitBytes === undefined) return [];
    const pods = daemonPods(daemonSet, world);
    const nodes = new Set(pods.map(({ node }) => node));
    const hasTwin = world.daemonSets.some((one) => one !== daemonSet && isCniDaemon(one, limitBytes, cniDaemons));
    const views = world.nodeViews.filter((view) => nodes.has(view.node) && !hasTwin && isOf(view, limitBytes));
    const uses = views.length > 0 ? viewUses(views) : podUses(pods, world);
    return [{ daemonSet, container, limit: mark.limit, limitBytes, pods, views, uses }];
  });
}

function viewUses(views: readonly NodeViewFacts[]): readonly MemoryUse[] {
  return views.map(({ node, atMs, memoryBytes: usedBytes = 0 }) => ({ node, atMs, usedBytes }));
}

function podUses(pods: readonly ClusterPod[], { memoryUses = [] }: World): readonly MemoryUse[] {
  const known = new Map(memoryUses.map((use) => [`${use.namespace}/${use.pod}`, use]));
  return pods.flatMap(({ namespace, name, node }) => {
    const use = known.get(`${namespace}/${name}`);
    return use === undefined ? [] : [{ node, atMs: use.atMs, usedBytes: use.usedBytes }];
  });
}

export function daemonPods(
  { namespace, name }: Pick<DaemonSetFacts, "namespace" | "name">,
  world: World,
): ClusterPod[] {
  const owner = `DaemonSet/${name}`;
  const found: ClusterPod[] = [];
  for (const pod of world.pods) if (pod.namespace === namespace && pod.owner === owner) found.push(pod);
  return found;
}

/** A view names no daemon, so of two CNI daemons with one limit (Levee beside Multus) nobody knows which one it is of. */
function isCniDaemon(
  { namespace, name, containers }: DaemonSetFacts,
  limitBytes: number,
  cniDaemons: GuardSettings["cniDaemons"],
): boolean {
  return cniDaemons.some((known) => {
    if (known.namespace !== namespace || known.daemonSet !== name) return false;
    const limit = containers.find((one) => one.name === known.container)?.memoryLimit ?? "";
    return isSameLimit(memoryBytes(limit) ?? 0, limitBytes);
  });
}

/** A daemon tells its own limit: one with another limit is another daemon, or still has the old one. */
function isOf({ memoryBytes: usedBytes = 0, memoryLimitBytes, oomKills }: NodeViewFacts, limitBytes: number): boolean {
  return usedBytes > 0 && oomKills !== undefined && isSameLimit(memoryLimitBytes ?? 0, limitBytes);
}

function isSameLimit(one: number, other: number): boolean {
  return Math.abs(one - other) < pageBytes;
}

/**
 * What is known of a container's calm after one more look. Pressure begins it anew, and so does a gap: what was not seen
 * was not quiet. `heard` is brought up to date.
 */
export function nextCalm(watched: Watched, before: MemoryCalm | undefined, world: World, heard: HeardAt): MemoryCalm {
  const { nowMs } = world;
  const earlier = usable(before, watched, nowMs);
  for (const { node, atMs } of watched.views) heard.set(node, Math.min(nowMs, atMs));
  const coveredMs = coveredUntil(watched, earlier, nowMs, heard);
  const kills = killsOf(watched, earlier);
  const disturbedMs = disturbedAt(watched, before, world);
  const known = { key: calmKey(watched), limit: watched.limit, coveredMs, kills, disturbedMs };
  const fresh = { ...known, sinceMs: nowMs, broken: "" };
  // What was used under pressure is not what the daemon needs in calm.
  const broken = brokenText(watched, earlier, coveredMs, world);
  if (broken !== undefined) return { ...fresh, peakBytes: 0, peakNode: "", broken };
  const peak = peakOf(watched, earlier);
  return earlier === undefined ? { ...fresh, ...peak } : { ...earlier, ...known, ...peak };
}

/** When the guard last saw a backlog: in the record, where it is of this limit, or now. */
export function disturbedAt(watched: Watched, before: MemoryCalm | undefined, world: World): number {
  if (stuckText(world) !== undefined) return world.nowMs;
  const isSame = before?.key === calmKey(watched) && before.limit === watched.limit;
  return isSame ? Math.min(before.disturbedMs, world.nowMs) : 0;
}

function brokenText(
  watched: Watched,
  earlier: MemoryCalm | undefined,
  coveredMs: number,
  world: World,
): string | undefined {
  if (earlier === undefined) return gapText(coveredMs, world.nowMs);
  // A guard that was away comes back to daemons that answer at once: the record tells how long nobody looked.
  return gapText(Math.min(coveredMs, earlier.coveredMs), world.nowMs) ?? pressureText(watched, earlier, world);
}

function peakOf({ views }: Watched, earlier: MemoryCalm | undefined): Pick<MemoryCalm, "peakBytes" | "peakNode"> {
  const { peakBytes = 0, peakNode = "" } = earlier ?? {};
  let peak = { peakBytes, peakNode };
  for (const { node, memoryBytes: usedBytes = 0 } of views)
    if (usedBytes > peak.peakBytes) peak = { peakBytes: usedBytes, peakNode: node };
  return peak;
}

/** A record of another limit, from a clock that was ahead, or without the pods' own counters of kills says nothing. */
function usable(before: MemoryCalm | undefined, watched: Watched, nowMs: number): MemoryCalm | undefined {
  if (before?.key !== calmKey(watched) || before.limit !== watched.limit || before.isOfPrometheus) return undefined;
  return before.sinceMs <= nowMs && before.coveredMs <= nowMs ? before : undefined;
}

/** A pod that this process has not heard yet was covered as long as the record says, and not before it was made. */
function coveredUntil(
  { pods, daemonSet }: Watched,
  earlier: MemoryCalm | undefined,
  nowMs: number,
  heard: HeardAt,
): number {
  const recordedMs = earlier?.coveredMs ?? 0;
  // A node without a pod of the daemon tells nothing either.
  if (pods.length === 0 || pods.length < daemonSet.desired) return recordedMs;
  const unheardMs = ({ createdMs }: ClusterPod): number => (recordedMs === 0 ? 0 : Math.max(recordedMs, createdMs));
  return Math.min(nowMs, ...pods.map((pod) => heard.get(pod.node) ?? unheardMs(pod)));
}

function gapText(coveredMs: number, nowMs: number): string | undefined {
  if (nowMs - coveredMs <= gapMaxMs) return undefined;
  return coveredMs === 0
    ? "not every pod has told what it uses"
    : `not every pod has told what it uses since ${timeText(coveredMs)}`;
}

/** A counter begins again at 0 with every new container, so only what it has now is kept. */
function killsOf({ views, pods }: Watched, earlier: MemoryCalm | undefined): Readonly<Record<string, number>> {
  const told = new Map(views.map(({ node, oomKills = 0 }) => [node, oomKills]));
  const nodes = [...new Set(pods.map(({ node }) => node))];
  const counted = nodes.map((node): [string, number] => [node, told.get(node) ?? earlier?.kills[node] ?? 0]);
  return Object.fromEntries(counted.filter(([, kills]) => kills > 0).slice(0, killsMax));
}

/** Why the container was not calm just now; undefined when it was. */
function pressureText(
  { views, pods, limitBytes, limit }: Watched,
  earlier: MemoryCalm,
  world: World,
): string | undefined {
  const killed = killedText(pods, earlier.sinceMs);
  if (killed !== undefined) return killed;
  const lost = views.find(({ node, oomKills = 0 }) => oomKills > (earlier.kills[node] ?? 0));
  if (lost !== undefined) return `a process of the daemon on ${lost.node} was killed for memory`;
  const full = views.find(({ memoryBytes: usedBytes = 0 }) => usedBytes > limitBytes * pressureShare);
  if (full !== undefined) return `the daemon on ${full.node} used more than ${pressureShare * 100} % of ${limit}`;
  return stuckText(world);
}

/** Which of the pods was killed since; undefined when none was. */
export function killedText(pods: readonly ClusterPod[], sinceMs: number): string | undefined {
  const killed = pods.find(({ oomKilledMs }) => oomKilledMs > sinceMs);
  return killed === undefined
    ? undefined
    : `${killed.name} on ${killed.node} was killed for memory at ${timeText(killed.oomKilledMs)}`;
}

export function stuckText(world: World): string | undefined {
  const stuck = stuckPods(world);
  return stuck < membersMin ? undefined : `${stuck} pods with a node did not start`;
}

function stuckPods({ pods, nowMs, stuckAfterMs }: World): number {
  let found = 0;
  for (const pod of pods) if (!pod.isDeleting && isStuck(pod, nowMs, stuckAfterMs)) found += 1;
  return found;
}
