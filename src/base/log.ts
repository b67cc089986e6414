import type { Clock } from "./clock.ts";
import { LogFlood, type LogLine } from "./log-flood.ts";
import { levelsByVerbosity, rankOf, type LogFields, type LogLevel } from "./log-level.ts";

export type { LogFields, LogLevel };

/** Structured logging, one JSON object a line. Errors are logged once, where they are handled. */
export interface Logger {
  debug(message: string, fields?: LogFields): void;
  info(message: string, fields?: LogFields): void;
  warn(message: string, fields?: LogFields): void;
  error(message: string, fields?: LogFields): void;
}

interface JsonLoggerOptions {
  readonly clock: Clock;
  readonly level: LogLevel;
  readonly write: (line: string) => void;
}

const noFields: LogFields = {};

/** Writes lines from its level up, and sums up lines that repeat. At `debug` it writes them all. */
export class JsonLogger implements Logger {
  readonly #options: JsonLoggerOptions;
  readonly #flood: LogFlood;
  readonly #written = new Map<LogLevel, number>(levelsByVerbosity.map((level) => [level, 0]));
  #level: LogLevel;

  constructor(options: JsonLoggerOptions) {
    this.#options = options;
    this.#level = options.level;
    this.#flood = new LogFlood(options.clock, (line) => this.#print(line));
  }

  get level(): LogLevel {
    return this.#level;
  }

  /** Lines written so far, by level. */
  get written(): ReadonlyMap<LogLevel, number> {
    return this.#written;
  }

  /** Lines that were not written themselves: a sum counts them. */
  get summed(): number {
    return this.#flood.summed;
  }

  debug(message: string, fields: LogFields = noFields): void {
    this.#log("debug", message, fields);
  }

  info(message: string, fields: LogFields = noFields): void {
    this.#log("info", message, fields);
  }

  warn(message: string, fields: LogFields = noFields): void {
    this.#log("warn", message, fields);
  }

  error(message: string, fields: LogFields = noFields): void {
    this.#log("error", message, fields);
  }

  /** Sets the level one step louder or quieter, and logs the new level whatever it is. */
  turn(by: "louder" | "quieter"): void {
    const at = rankOf(this.#level) + (by === "louder" ? -1 : 1);
    this.#level = levelsByVerbosity[Math.min(levelsByVerbosity.length - 1, Math.max(0, at))] ?? this.#level;
    // The lines held back belong to the old level.
    this.flush();
    this.#print({ level: "warn", message: "The log level was set by a signal", fields: { logLevel: this.#level } });
  }

  /** Writes the sums of the lines held back, before the process ends. */
  flush(): void {
    this.#flood.flush();
  }

  #log(level: LogLevel, message: string, fields: LogFields): void {
    if (rankOf(level) < rankOf(this.#level)) return;
    const line = { level, message, fields };
    if (this.#level === "debug" || this.#flood.passes(line)) this.#print(line);
  }

  #print({ level, message, fields }: LogLine): void {
    const time = new Date(this.#options.clock.wallMs()).toISOString();
    this.#written.set(level, (this.#written.get(level) ?? 0) + 1);
    this.#options.write(`${escaped(JSON.stringify({ time, level, message, ...fields }))}\n`);
  }
}

/** Logs are read on terminals and quote plugins, so characters that JSON keeps but a terminal obeys are escaped too. */
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
