import { metricOf, type Metric } from "../../wire/metric-lines.ts";

/** What a node's daemon says of itself, from /loadz, /metrics or its socket. Absent: it did not say. */
export interface DaemonFacts {
  readonly heardMs: number;
  readonly adds: number;
  readonly dels: number;
  /** Critical, ordinary, penalty, detach. */
  readonly byClass: readonly number[];
  readonly running: number;
  readonly slots?: number;
  readonly memoryBytes?: number;
  readonly memoryLimitBytes?: number;
  readonly kills: number;
  readonly leaks: number;
  readonly held: number;
  readonly halfOpen: number;
  readonly hung: number;
  readonly oldestWaitMs: number;
  /** 0: none is due. */
  readonly rebootMs: number;
  /** Only in /metrics. */
  readonly plugins?: readonly PluginFacts[];
}

/** Runs of one plugin on one node: counts by upper bound in seconds, each with all below it. */
export interface PluginFacts {
  readonly plugin: string;
  readonly verb: string;
  readonly runs: number;
  readonly failed: number;
  readonly buckets: readonly (readonly [seconds: number, runs: number])[];
}

export const classNames = ["critical", "ordinary", "penalty", "detach"] as const;

/** Undefined for metrics of another program. */
export function daemonFacts(metrics: readonly Metric[], heardMs: number): DaemonFacts | undefined {
  const waiting = metrics.filter(({ name }) => name === "levee_waiting");
  if (waiting.length === 0) return undefined;
  const byClass = classNames.map((one) => sumOf(waiting.filter(({ labels }) => labels["class"] === one)));
  const dels = byClass[3] ?? 0;
  const number = (name: string): number => metricOf(metrics, name) ?? 0;
  return {
    heardMs,
    adds: sumOf(waiting) - dels,
    dels,
    byClass,
    running: sumOf(metrics.filter(({ name }) => name === "levee_running")),
    ...known("slots", slotsOf(metrics)),
    ...known("memoryBytes", metricOf(metrics, "levee_memory_working_set_bytes")),
    ...known("memoryLimitBytes", metricOf(metrics, "levee_memory_limit_bytes")),
    kills: number("levee_memory_oom_kills_total"),
    leaks: number("levee_leaks"),
    held: number("levee_held_pods"),
    halfOpen: number("levee_networks_half_open"),
    hung: number("levee_hung_delegates"),
    oldestWaitMs: number("levee_oldest_wait_seconds") * 1_000,
    rebootMs: rebootMs(metrics, heardMs),
    ...pluginsOf(metrics),
  };
}

function rebootMs(metrics: readonly Metric[], heardMs: number): number {
  if (metricOf(metrics, "levee_node_reboot_required") !== 1) return 0;
  const since = metricOf(metrics, "levee_node_reboot_required_since_timestamp_seconds");
  return since === undefined ? heardMs : Math.round(since * 1_000);
}

/** A daemon of an earlier release has no slots in /loadz. */
function slotsOf(metrics: readonly Metric[]): number | undefined {
  const slots = metrics.filter(({ name }) => name === "levee_slots");
  return slots.length === 0 ? undefined : sumOf(slots);
}

function pluginsOf(metrics: readonly Metric[]): Pick<DaemonFacts, "plugins"> {
  const rows = metrics.filter(({ name }) => name === "levee_delegate_seconds_bucket");
  if (rows.length === 0) return {};
  const exits = metrics.filter(({ name }) => name === "levee_delegate_exits_total");
  const groups = Map.groupBy(rows, ({ labels }) => `${labels["plugin"] ?? ""} ${labels["verb"] ?? ""}`);
  return {
    plugins: [...groups.values()].map((group): PluginFacts => {
      const { plugin = "", verb = "" } = group[0]?.labels ?? {};
      const ended = exits.filter(({ labels }) => labels["plugin"] === plugin && labels["verb"] === verb);
      return {
        plugin,
        verb,
        runs: sumOf(ended),
        failed: sumOf(ended.filter(({ labels }) => labels["exit"] !== "ok")),
        buckets: group.map(({ labels, value }) => [Number((labels["le"] ?? "").replace("+Inf", "Infinity")), value]),
      };
    }),
  };
}

function sumOf(metrics: readonly Metric[]): number {
  return metrics.reduce((sum, { value }) => sum + value, 0);
}

function known<K extends keyof DaemonFacts>(key: K, value: number | undefined): Partial<Record<K, number>> {
  return value === undefined ? {} : ({ [key]: value } as Record<K, number>); // one key, which TypeScript widens
}
