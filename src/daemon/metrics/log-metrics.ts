import type { LogLevel } from "../../base/log.ts";
import type { MetricsRegistry } from "./metrics-registry.ts";

/** What has become of the lines of the log. */
export interface LogCounts {
  readonly written: ReadonlyMap<LogLevel, number>;
  readonly summed: number;
  readonly dropped: number;
}

export function registerLog(metrics: MetricsRegistry, counts: () => LogCounts): void {
  metrics.counted("levee_log_lines_total", "Lines of the log", () =>
    [...counts().written].map(([level, value]) => ({ labels: { level }, value })),
  );
  metrics.counted("levee_log_summed_total", "Lines that became part of a sum in the log", () => counts().summed);
  metrics.counted("levee_log_dropped_total", "Lines that nobody read, so they are lost", () => counts().dropped);
}
