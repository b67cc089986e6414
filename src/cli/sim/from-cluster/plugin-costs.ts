import type { Metric } from "../../../wire/metric-lines.ts";
import { quietWallsMs } from "./quiet-wall.ts";

/** What one run of a plugin or of a whole chain costs. */
export interface RunCost {
  readonly cpuMs: number;
  /** The rest of its time: locks of the kernel, a server's answer, or sleep. */
  readonly waitMs: number;
}

/** What the runs of plugins have cost on this cluster: one run on average of all. */
export interface PluginCosts extends RunCost {
  readonly runs: number;
  /** One run of each plugin, by its name. */
  readonly byPlugin: ReadonlyMap<string, RunCost>;
}

/**
 * From the metrics of all daemons. CPU is counted by plugin and not by verb, so it is shared by all runs of the plugin:
 * ADDs and DELs, which cost about the same. Undefined when no daemon has run a plugin.
 */
export function pluginCosts(metrics: readonly Metric[]): PluginCosts | undefined {
  const seconds = sumsOf(metrics, "levee_delegate_cpu_seconds_total");
  const runs = sumsOf(metrics, "levee_delegate_seconds_count");
  const walls = quietWallsMs(metrics);
  const byPlugin = new Map<string, RunCost>();
  let [allRuns, allCpuMs, allWaitMs] = [0, 0, 0];
  for (const [plugin, count] of runs) {
    const cpuSeconds = seconds.get(plugin);
    if (count === 0 || cpuSeconds === undefined) continue;
    const cpuMs = (1_000 * cpuSeconds) / count;
    const waitMs = Math.max(0, (walls.get(plugin) ?? 0) - cpuMs);
    byPlugin.set(plugin, { cpuMs, waitMs });
    allRuns += count;
    allCpuMs += count * cpuMs;
    allWaitMs += count * waitMs;
  }
  if (allRuns === 0 || allCpuMs === 0) return undefined;
  return { cpuMs: allCpuMs / allRuns, waitMs: allWaitMs / allRuns, runs: allRuns, byPlugin };
}

/** The plugins of each network by `namespace/name`, as far as they can be read. */
export type NetworkPlugins = ReadonlyMap<string, readonly string[]>;

/** One chain of the network: each of its plugins runs once. */
export function chainCost(plugins: readonly string[] | undefined, costs: PluginCosts): RunCost {
  const named = plugins ?? [];
  if (named.length === 0) return { cpuMs: costs.cpuMs, waitMs: costs.waitMs };
  return sumOfCosts(named.map((plugin) => costs.byPlugin.get(plugin) ?? costs));
}

/**
 * The default network's chain. Its configuration is on the nodes and not in the cluster, so it is taken to have the plugins
 * that no network definition names.
 */
export function defaultChainCost(networks: NetworkPlugins, costs: PluginCosts): RunCost {
  const named = new Set([...networks.values()].flat());
  return chainCost(
    [...costs.byPlugin.keys()].filter((plugin) => !named.has(plugin)),
    costs,
  );
}

export function sumOfCosts(costs: readonly RunCost[]): RunCost {
  return {
    cpuMs: costs.reduce((sum, { cpuMs }) => sum + cpuMs, 0),
    waitMs: costs.reduce((sum, { waitMs }) => sum + waitMs, 0),
  };
}

function sumsOf(metrics: readonly Metric[], name: string): ReadonlyMap<string, number> {
  const sums = new Map<string, number>();
  for (const { name: own, labels, value } of metrics) {
    const { plugin } = labels;
    if (own === name && plugin !== undefined) sums.set(plugin, (sums.get(plugin) ?? 0) + value);
  }
  return sums;
}
