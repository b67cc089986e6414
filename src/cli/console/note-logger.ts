import { silentLogger, type Logger } from "../../base/log.ts";
import type { Shell } from "../shell.ts";

/** Warnings as lines for the person at the terminal. */
export function noteLogger({ stderr }: Pick<Shell, "stderr">): Logger {
  const note = (message: string, fields: object = {}): void => {
    const facts = Object.entries(fields).map(([key, value]) => `${key} ${String(value)}`);
    stderr.write(`Note: ${message}${facts.length === 0 ? "" : ` (${facts.join(", ")})`}\n`);
  };
  return { ...silentLogger, warn: note, error: note };
}
