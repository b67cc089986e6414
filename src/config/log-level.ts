import type { LogLevel } from "../base/log.ts";
import { shorten } from "./problem.ts";
import type { SettingsReader } from "./settings-reader.ts";

/** Multus' levels and Levee's own. `panic`, Multus' default, would hide even errors, so here it shows them. */
const levels: Readonly<Record<string, LogLevel>> = {
  panic: "error",
  error: "error",
  warn: "warn",
  verbose: "info",
  info: "info",
  debug: "debug",
};

/** The daemon starts even with an unknown level, as Multus does. */
export function readLogLevel(from: SettingsReader, notices: string[]): LogLevel {
  const given = from.string("logLevel") ?? "";
  if (given === "") return "info";
  const level = new Map(Object.entries(levels)).get(given.toLowerCase());
  if (level === undefined)
    notices.push(
      `logLevel is ${shorten(JSON.stringify(given))}, which is none of ${Object.keys(levels).join(", ")}: info is used`,
    );
  return level ?? "info";
}
