import type { ConsoleServer } from "./console-server.ts";

/** The console's own numbers, in Prometheus' text format. */
export function consoleMetrics({ tabs, refusals }: Pick<ConsoleServer, "tabs" | "refusals">): string {
  const refused = [...refusals.all()].map(([code, count]) => `levee_console_refused_total{code="${code}"} ${count}`);
  return [
    "# HELP levee_console_tabs Tabs that follow the console",
    "# TYPE levee_console_tabs gauge",
    `levee_console_tabs ${tabs}`,
    "# HELP levee_console_refused_total Requests that the console refused",
    "# TYPE levee_console_refused_total counter",
    ...refused,
    "",
  ].join("\n");
}
