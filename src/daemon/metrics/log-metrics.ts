import type { LogLevel } from "../../base/log.ts";
import type { MetricsRegistry } from "./metrics-registry.ts";

export interface LogCounts {
  readonly written: ReadonlyMap<LogLevel, number>;
  readonly summed: number;
  readonly dropped: number;
}

export function registerLog(metrics: MetricsRegistry, counts: () => LogCounts): void {
  metrics.counted("levee_log_lines_total", "Lines of the log", () =>
    [...counts().written].map(([level, value]) => ({ labels: { level }, value })),
  );
  metrics.counted("levee_log_summed_total", "Log lines that became part of a sum", () => counts().summed);
  metrics.counted(
    "levee_log_dropped_total",
    "Log lines that were lost because the log was not read",
    () => counts().dropped,
  );
}
