import type { NodeStorm, NodeStorms, StormClass, StormMoment, Tally } from "../../../../state/recorder/node-storm.ts";
import { stormGapMs } from "../../../../state/recorder/storm-lines.ts";

/** Fewer pods in line are a busy minute and no storm; as for an avalanche. */
export const stormPodsMin = 20;
/** The search compares each of these with all others. A storm has its pods somewhere. */
const anchorsMax = 500;

/** One storm on all nodes that took part. Its numbers are sums, but the longest line is that of one node. */
export interface ClusterStorm extends Omit<NodeStorm, "moments"> {
  /** Most pods first. */
  readonly nodes: readonly StormNode[];
  readonly moments: readonly (StormMoment & { readonly node: string })[];
}

interface StormNode {
  readonly node: string;
  readonly storm: NodeStorm;
}

/** The largest storm that the nodes tell of, since a moment; undefined when so few pods waited that there was none. */
export function clusterStorm(told: ReadonlyMap<string, NodeStorms>, sinceMs = 0): ClusterStorm | undefined {
  const nodes = largest(told, sinceMs);
  return podsOf(nodes) >= stormPodsMin ? sumOf(nodes) : undefined;
}

/** The most pods that waited in one go, for the message that there was no storm. */
export function longestQueue(told: ReadonlyMap<string, NodeStorms>, sinceMs = 0): number {
  return podsOf(largest(told, sinceMs));
}

/**
 * The lines of pods that touch one of them, for the one where those are most pods. Lines that only touch each other are
 * left out: on a large cluster some node always has a line, and they would become one storm without an end.
 */
function largest(told: ReadonlyMap<string, NodeStorms>, sinceMs: number): readonly StormNode[] {
  const all = [...told]
    .flatMap(([node, { storms }]) => storms.map((storm) => ({ node, storm })))
    .filter(({ storm }) => storm.toMs >= sinceMs)
    .toSorted((left, right) => right.storm.pods - left.storm.pods);
  let best: NodeStorm | undefined;
  let podsMax = 0;
  for (const { storm: anchor } of all.slice(0, anchorsMax)) {
    let pods = 0;
    for (const { storm } of all) if (touches(storm, anchor)) pods += storm.pods;
    if (pods > podsMax) [best, podsMax] = [anchor, pods];
  }
  return best === undefined ? [] : all.filter(({ storm }) => touches(storm, best));
}

function touches(storm: NodeStorm, anchor: NodeStorm): boolean {
  return storm.fromMs <= anchor.toMs + stormGapMs && storm.toMs >= anchor.fromMs - stormGapMs;
}

function podsOf(nodes: readonly StormNode[]): number {
  return nodes.reduce((sum, { storm }) => sum + storm.pods, 0);
}

function sumOf(nodes: readonly StormNode[]): ClusterStorm {
  const storms = nodes.map(({ storm }) => storm);
  const sum = (of: (storm: NodeStorm) => number): number => storms.reduce((total, storm) => total + of(storm), 0);
  const most = (of: (storm: NodeStorm) => number): number => Math.max(0, ...storms.map(of));
  const lineMax = most((storm) => storm.lineMax);
  return {
    fromMs: Math.min(...storms.map((storm) => storm.fromMs)),
    toMs: most((storm) => storm.toMs),
    pods: podsOf(nodes),
    namespaces: tallyOf(storms.map((storm) => storm.namespaces)),
    lineMax,
    lineMaxMs: storms.find((storm) => storm.lineMax === lineMax)?.lineMaxMs ?? 0,
    classes: classesOf(storms),
    waits: waitsOf(storms),
    attached: sum((storm) => storm.attached),
    failures: tallyOf(storms.map((storm) => storm.failures)),
    plugins: tallyOf(storms.map((storm) => storm.plugins)),
    held: sum((storm) => storm.held),
    holdMsMax: most((storm) => storm.holdMsMax),
    oomKills: sum((storm) => storm.oomKills),
    hung: sum((storm) => storm.hung),
    leaks: sum((storm) => storm.leaks),
    moments: nodes
      .flatMap(({ node, storm }) => storm.moments.map((moment) => ({ ...moment, node })))
      .toSorted((left, right) => left.atMs - right.atMs),
    nodes,
  };
}

function classesOf(storms: readonly NodeStorm[]): readonly StormClass[] {
  const all = Map.groupBy(
    storms.flatMap(({ classes }) => classes),
    ({ name }) => name,
  );
  return [...all].map(([name, parts]) => ({
    name,
    pods: parts.reduce((sum, { pods }) => sum + pods, 0),
    waitMsMax: Math.max(...parts.map(({ waitMsMax }) => waitMsMax)),
  }));
}

function waitsOf(storms: readonly NodeStorm[]): NodeStorm["waits"] {
  return [...counted(storms.map(({ waits }) => waits))].toSorted(([left], [right]) => left - right);
}

function tallyOf(parts: readonly Tally[]): Tally {
  return [...counted(parts)].toSorted(([left, most], [right, more]) => more - most || (left < right ? -1 : 1));
}

function counted<Key>(parts: readonly (readonly (readonly [Key, number])[])[]): ReadonlyMap<Key, number> {
  const counts = new Map<Key, number>();
  for (const [key, times] of parts.flat()) counts.set(key, (counts.get(key) ?? 0) + times);
  return counts;
}
