import type { Clock } from "./clock.ts";

export type LogLevel = "debug" | "info" | "warn" | "error";
export type LogFields = Readonly<Record<string, string | number | boolean | undefined>>;

/** Structured logging, one JSON object a line. Errors are logged once, where they are handled. */
export interface Logger {
  debug(message: string, fields?: LogFields): void;
  info(message: string, fields?: LogFields): void;
  warn(message: string, fields?: LogFields): void;
  error(message: string, fields?: LogFields): void;
}

const order: Record<LogLevel, number> = { debug: 0, info: 1, warn: 2, error: 3 };

export function jsonLogger(clock: Clock, level: LogLevel, write: (line: string) => void): Logger {
  const at =
    (lineLevel: LogLevel) =>
    (message: string, fields: LogFields = {}): void => {
      if (order[lineLevel] < order[level]) return;
      const time = new Date(clock.wallMs()).toISOString();
      write(`${JSON.stringify({ time, level: lineLevel, message, ...fields })}\n`);
    };
  return { debug: at("debug"), info: at("info"), warn: at("warn"), error: at("error") };
}

export const silentLogger: Logger = {
  debug: () => undefined,
  info: () => undefined,
  warn: () => undefined,
  error: () => undefined,
};
