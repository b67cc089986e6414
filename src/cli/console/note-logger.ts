import type { Logger } from "../../base/log.ts";
import type { Shell } from "../shell.ts";

/** The page shows which facts are old; a line for each attempt would only fill the terminal. */
export const silentLogger: Logger = {
  debug: () => undefined,
  info: () => undefined,
  warn: () => undefined,
  error: () => undefined,
};

/** Warnings as lines for the person at the terminal. */
export function noteLogger({ stderr }: Pick<Shell, "stderr">): Logger {
  const note = (message: string, fields: object = {}): void => {
    const facts = Object.entries(fields).map(([key, value]) => `${key} ${String(value)}`);
    stderr.write(`Note: ${message}${facts.length === 0 ? "" : ` (${facts.join(", ")})`}\n`);
  };
  return { ...silentLogger, warn: note, error: note };
}
