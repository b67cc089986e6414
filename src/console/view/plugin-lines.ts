import type { PluginLine } from "../../wire/console-view.ts";
import type { PluginFacts } from "../facts/daemon-facts.ts";

const linesMax = 32;

/** The plugins of all nodes together, the slowest first. */
export function pluginLines(nodes: Iterable<readonly PluginFacts[]>): readonly PluginLine[] {
  const groups = new Map<
    string,
    { readonly first: PluginFacts; runs: number; failed: number; sums: Map<number, number> }
  >();
  for (const plugins of nodes) {
    for (const one of plugins) {
      const key = `${one.plugin} ${one.verb}`;
      const group = groups.get(key) ?? { first: one, runs: 0, failed: 0, sums: new Map<number, number>() };
      groups.set(key, group);
      group.runs += one.runs;
      group.failed += one.failed;
      for (const [seconds, runs] of one.buckets) group.sums.set(seconds, (group.sums.get(seconds) ?? 0) + runs);
    }
  }
  return [...groups.values()]
    .map(({ first: { plugin, verb }, runs, failed, sums }) => {
      const buckets = [...sums].toSorted(([left], [right]) => left - right);
      return { plugin, verb, runs, failed, p50Ms: quantileMs(buckets, 0.5), p99Ms: quantileMs(buckets, 0.99) };
    })
    .toSorted((left, right) => right.p99Ms - left.p99Ms)
    .slice(0, linesMax);
}

/** The upper bound of the bucket in which the share is reached; of the last bucket, which has none, its lower one. */
function quantileMs(buckets: readonly (readonly [number, number])[], share: number): number {
  const total = buckets.at(-1)?.[1] ?? 0;
  const at = buckets.findIndex(([, runs]) => total > 0 && runs >= share * total);
  const [seconds = 0] = buckets[at] ?? [];
  return Math.round((Number.isFinite(seconds) ? seconds : (buckets[at - 1]?.[0] ?? 0)) * 1_000);
}
