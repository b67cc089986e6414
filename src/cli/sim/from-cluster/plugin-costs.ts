import type { Metric } from "../../../wire/metric-lines.ts";

/** What the runs of plugins have cost on this cluster. */
export interface PluginCosts {
  /** One run, on average of all. */
  readonly cpuMs: number;
  readonly runs: number;
  /** One run of each plugin, by its name. */
  readonly byPlugin: ReadonlyMap<string, number>;
}

/**
 * From the metrics of all daemons. CPU is counted by plugin and not by verb, so it is shared by all runs of the plugin:
 * ADDs and DELs, which cost about the same. Undefined when no daemon has run a plugin.
 */
export function pluginCosts(metrics: readonly Metric[]): PluginCosts | undefined {
  const seconds = sumsOf(metrics, "levee_delegate_cpu_seconds_total");
  const runs = sumsOf(metrics, "levee_delegate_seconds_count");
  const known = [...runs].filter(([plugin, count]) => count > 0 && seconds.has(plugin));
  const allRuns = known.reduce((sum, [, count]) => sum + count, 0);
  const allMs = known.reduce((sum, [plugin]) => sum + 1_000 * (seconds.get(plugin) ?? 0), 0);
  if (allRuns === 0 || allMs === 0) return undefined;
  const byPlugin = new Map(known.map(([plugin, count]) => [plugin, (1_000 * (seconds.get(plugin) ?? 0)) / count]));
  return { cpuMs: allMs / allRuns, runs: allRuns, byPlugin };
}

/** The plugins of each network by `namespace/name`, as far as they can be read. */
export type NetworkPlugins = ReadonlyMap<string, readonly string[]>;

/** One chain of the network: each of its plugins runs once. */
export function chainCpuMs(plugins: readonly string[] | undefined, costs: PluginCosts): number {
  const named = plugins ?? [];
  if (named.length === 0) return costs.cpuMs;
  return named.reduce((sum, plugin) => sum + (costs.byPlugin.get(plugin) ?? costs.cpuMs), 0);
}

/**
 * The default network's chain. Its configuration is on the nodes and not in the cluster, so it is taken to have the plugins
 * that no network definition names.
 */
export function defaultChainCpuMs(networks: NetworkPlugins, costs: PluginCosts): number {
  const named = new Set([...networks.values()].flat());
  return chainCpuMs(
    [...costs.byPlugin.keys()].filter((plugin) => !named.has(plugin)),
    costs,
  );
}

function sumsOf(metrics: readonly Metric[], name: string): ReadonlyMap<string, number> {
  const sums = new Map<string, number>();
  for (const { name: own, labels, value } of metrics) {
    const { plugin } = labels;
    if (own === name && plugin !== undefined) sums.set(plugin, (sums.get(plugin) ?? 0) + value);
  }
  return sums;
}
