import { metricOf, metricsOf, type Metric } from "../../../../wire/metric-lines.ts";

/** What a daemon's metrics say after the storm. Counters begin with the daemon, or with its container. */
export interface NodeNow {
  readonly node: string;
  readonly startedMs: number;
  /** Calls that wait at this moment: more than none, and the storm may not be over. */
  readonly waiting: number;
  readonly memoryBytes: number;
  readonly memoryLimitBytes: number | undefined;
  /** Times that the daemon's memory reached its limit, and processes killed there. */
  readonly limitHits: number;
  readonly kills: number;
  /** ADDs that found no room, waited their whole time, or were answered from memory. */
  readonly refused: number;
  readonly expired: number;
  readonly held: number;
  readonly leaks: number;
}

/** Undefined for metrics of another program. */
export function nodeNow(node: string, text: string): NodeNow | undefined {
  const metrics = metricsOf(text);
  const waiting = metrics.filter(({ name }) => name === "levee_waiting");
  if (waiting.length === 0) return undefined;
  const number = (name: string): number => metricOf(metrics, name) ?? 0;
  const outcome = (wanted: string): number =>
    sumOf(metrics.filter(({ name, labels }) => isAdmission(name, labels["class"]) && labels["outcome"] === wanted));
  return {
    node,
    startedMs: Math.round(number("process_start_time_seconds") * 1_000),
    waiting: sumOf(waiting.filter(({ labels }) => labels["kind"] === "attach")),
    memoryBytes: number("levee_memory_working_set_bytes"),
    memoryLimitBytes: metricOf(metrics, "levee_memory_limit_bytes"),
    limitHits: number("levee_memory_limit_hits_total"),
    kills: number("levee_memory_oom_kills_total"),
    refused: outcome("refused"),
    expired: outcome("expired"),
    held: outcome("held"),
    leaks: number("levee_leaks"),
  };
}

function isAdmission(name: string, admissionClass: string | undefined): boolean {
  return name === "levee_admissions_total" && admissionClass !== "detach";
}

function sumOf(metrics: readonly Metric[]): number {
  return metrics.reduce((sum, { value }) => sum + value, 0);
}
