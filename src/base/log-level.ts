export type LogLevel = "debug" | "info" | "warn" | "error";
export type LogFields = Readonly<Record<string, string | number | boolean | readonly string[] | undefined>>;

/** The most verbose first. */
export const levelsByVerbosity = ["debug", "info", "warn", "error"] as const satisfies readonly LogLevel[];

const ranks: Readonly<Record<LogLevel, number>> = { debug: 0, info: 1, warn: 2, error: 3 };

export function rankOf(level: LogLevel): number {
  return ranks[level];
}
