import type { Clock } from "./clock.ts";

export type LogLevel = "debug" | "info" | "warn" | "error";
export type LogFields = Readonly<Record<string, string | number | boolean | readonly string[] | undefined>>;

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
      write(`${escaped(JSON.stringify({ time, level: lineLevel, message, ...fields }))}\n`);
    };
  return { debug: at("debug"), info: at("info"), warn: at("warn"), error: at("error") };
}

/** Logs are read on terminals and quote plugins: what JSON leaves as it is, but a terminal obeys, is escaped as well. */
const obeyed = /[\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/gu;

function escaped(json: string): string {
  return json.replace(obeyed, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`);
}

export const silentLogger: Logger = {
  debug: () => undefined,
  info: () => undefined,
  warn: () => undefined,
  error: () => undefined,
};
