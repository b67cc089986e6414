import type { PluginRunsView } from "../../wire/top-view.ts";
import type { TimelineFacts } from "./timeline.ts";

/** A node has a dozen plugins, each with ADD and DEL; names from other people's networks must not fill the memory. */
const pluginsMax = 32;
/** Enough for a p99. */
const runsKept = 64;
/** Rows that `levee top` shows. */
const rowsMax = 20;

/** The latest runs of each plugin: times, failures, memory. */
export class PluginRuns {
  readonly #rows = new Map<string, Row>();

  ran(verb: string, { plugin = "", tookMs = 0, maxRssKib = 0, detail }: TimelineFacts): void {
    const row = this.#row(plugin, verb);
    if (row === undefined) return;
    row.times[row.runs % runsKept] = tookMs;
    row.runs += 1;
    row.maxRssKib = Math.max(row.maxRssKib, maxRssKib);
    // Only the entry of a failed run has a detail.
    if (detail !== undefined) row.failed += 1;
  }

  /** Slowest first. */
  all(): readonly PluginRunsView[] {
    return [...this.#rows.values()]
      .map(viewOf)
      .toSorted((left, right) => right.p99Ms - left.p99Ms || (left.plugin < right.plugin ? -1 : 1))
      .slice(0, rowsMax);
  }

  #row(plugin: string, verb: string): Row | undefined {
    const key = `${verb} ${plugin}`;
    const known = this.#rows.get(key);
    if (known !== undefined || this.#rows.size >= pluginsMax) return known;
    const row = { plugin, verb, runs: 0, failed: 0, maxRssKib: 0, times: new Float32Array(runsKept) };
    this.#rows.set(key, row);
    return row;
  }
}

interface Row {
  readonly plugin: string;
  readonly verb: string;
  runs: number;
  failed: number;
  maxRssKib: number;
  /** A ring, in milliseconds. */
  readonly times: Float32Array;
}

function viewOf({ plugin, verb, runs, failed, maxRssKib, times }: Row): PluginRunsView {
  const sorted = times.slice(0, Math.min(runs, runsKept)).toSorted();
  return { plugin, verb, runs, failed, p50Ms: at(sorted, 0.5), p99Ms: at(sorted, 0.99), maxRssKib };
}

function at(sorted: Float32Array, share: number): number {
  const value = sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0;
  return Math.round(value * 10) / 10;
}
