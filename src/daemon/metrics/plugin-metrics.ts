import type { Ran } from "../../hands/run-chain.ts";
import type { Outcome } from "../../wire/outcome.ts";
import type { Counter, Histogram, MetricsRegistry } from "./metrics-registry.ts";

/** Covers a plugin that only reads a file up to one that asks a distant server. */
const secondsBounds = [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 25] as const;
/** A node has a dozen plugins; names from other people's networks must not fill the memory. */
const pluginsMax = 32;
const others = "other";
const sigkill = 9;

/** How a plugin run ended. The names are part of the metrics, so they are stable. */
type Exit = "ok" | "failed" | "missing" | "oom" | "signal" | "timeout";

/** CallMetrics every plugin run: its time, its end, its CPU and memory. */
export class PluginMetrics {
  readonly #seconds: Histogram;
  readonly #exits: Counter;
  readonly #cpuSeconds: Counter;
  readonly #oomKills: Counter;
  readonly #builtIn: Counter;
  /** The largest resident memory of each plugin, in bytes. Its keys are all the labels in use. */
  readonly #maxRssBytes = new Map<string, number>();

  constructor(metrics: MetricsRegistry) {
    const help = "One run of a plugin, as its shim measured it";
    this.#seconds = metrics.histogram("levee_delegate_seconds", help, secondsBounds, ["plugin", "verb"]);
    this.#exits = metrics.counter("levee_delegate_exits_total", "Plugin runs by their end", ["plugin", "verb", "exit"]);
    this.#cpuSeconds = metrics.counter(
      "levee_delegate_cpu_seconds_total",
      "Processor time of plugins and their children",
      ["plugin"],
    );
    this.#oomKills = metrics.counter("levee_delegate_oom_kills_total", "Plugins that the kernel killed for memory");
    this.#builtIn = metrics.counter("levee_delegate_builtin_total", "Plugin runs that a built-in plugin served", [
      "plugin",
      "verb",
    ]);
    metrics.gauge("levee_delegate_max_rss_bytes", "Largest resident memory of one run since the daemon started", () =>
      [...this.#maxRssBytes].map(([plugin, value]) => ({ labels: { plugin }, value })),
    );
  }

  ran({ verb, link, outcome }: Ran): void {
    const plugin = this.#label(link.type);
    const exit = exitOf(outcome);
    this.#seconds.observe(outcome.wallUs / 1_000_000, [plugin, verb]);
    this.#exits.add([plugin, verb, exit]);
    this.#cpuSeconds.add([plugin], outcome.cpuUs / 1_000_000);
    if (exit === "oom") this.#oomKills.add();
    if (outcome.builtIn !== undefined) this.#builtIn.add([plugin, verb]);
    const rssBytes = outcome.maxRssKib * 1_024;
    if (rssBytes > (this.#maxRssBytes.get(plugin) ?? 0)) this.#maxRssBytes.set(plugin, rssBytes);
  }

  #label(type: string): string {
    if (this.#maxRssBytes.has(type)) return type;
    const label = this.#maxRssBytes.size < pluginsMax ? type : others;
    if (!this.#maxRssBytes.has(label)) this.#maxRssBytes.set(label, 0);
    return label;
  }
}

export function exitOf(outcome: Outcome): Exit {
  if (outcome.timedOut) return "timeout";
  if (outcome.failure === "missing") return "missing";
  // Checked before the OOM counts: the node's count includes kills that have nothing to do with this run.
  if (outcome.failure === "killed") return "signal";
  if (outcome.signal === sigkill && outcome.oomCgroup + outcome.oomNode > 0) return "oom";
  if (outcome.signal !== undefined) return "signal";
  return outcome.exitCode === 0 && outcome.failure === undefined ? "ok" : "failed";
}
