import type { NodeViewFacts } from "../facts/world.ts";

/** A daemon's state without node and time. */
export type ToldView = Omit<NodeViewFacts, "node" | "atMs">;

/** Reads a daemon's metrics, from /metrics or /loadz; undefined for metrics of another program. */
export function parseNodeView(text: string): ToldView | undefined {
  const found = new Map<string, number[]>();
  for (const line of text.split("\n")) {
    if (!line.startsWith("levee_")) continue;
    const name = line.slice(0, line.search(/[{ ]/u));
    const value = Number(line.slice(line.lastIndexOf(" ") + 1));
    if (!wanted.has(name) || !Number.isFinite(value)) continue;
    found.set(name, [...(found.get(name) ?? []), value]);
  }
  const sum = (name: string): number | undefined => found.get(name)?.reduce((all, each) => all + each, 0);
  const waiting = sum("levee_waiting");
  if (waiting === undefined) return undefined;
  return {
    waiting,
    running: sum("levee_running") ?? 0,
    leaks: sum("levee_leaks") ?? 0,
    ...known("memoryBytes", sum("levee_memory_working_set_bytes")),
    ...known("memoryLimitBytes", sum("levee_memory_limit_bytes")),
    ...known("oomKills", sum("levee_memory_oom_kills_total")),
    ...known("watchAgeMs", oldestMs(found.get("levee_view_last_event_age_seconds"))),
    ...rebootMark(sum("levee_node_reboot_required"), sum("levee_node_reboot_required_since_timestamp_seconds")),
  };
}

const wanted: ReadonlySet<string> = new Set([
  "levee_waiting",
  "levee_running",
  "levee_leaks",
  "levee_memory_working_set_bytes",
  "levee_memory_limit_bytes",
  "levee_memory_oom_kills_total",
  "levee_view_last_event_age_seconds",
  "levee_node_reboot_required",
  "levee_node_reboot_required_since_timestamp_seconds",
]);

/** Nothing before the daemon's first look: a node that nobody looked at is not one that needs no reboot. */
function rebootMark(
  isRequired: number | undefined,
  sinceSeconds: number | undefined,
): Pick<ToldView, "isRebootRequired" | "rebootRequiredSinceMs"> {
  if (isRequired === undefined) return {};
  if (isRequired === 0) return { isRebootRequired: false };
  const sinceMs = sinceSeconds === undefined ? undefined : Math.round(sinceSeconds * 1_000);
  return { isRebootRequired: true, ...known("rebootRequiredSinceMs", sinceMs) };
}

/** The age of the resource that has been silent longest. */
function oldestMs(seconds: readonly number[] | undefined): number | undefined {
  return seconds === undefined ? undefined : Math.max(...seconds) * 1_000;
}

function known<K extends keyof ToldView>(key: K, value: number | undefined): Partial<Record<K, number>> {
  return value === undefined ? {} : ({ [key]: value } as Record<K, number>); // one key, which TypeScript widens
}
