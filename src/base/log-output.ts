import type { Clock } from "./clock.ts";

/** Where lines go. `done` is called when the text has left, or never will. */
export interface LogStream {
  write(text: string, done: (error?: Error | null) => void): unknown;
}

/** How much to keep while the reader is stuck: about a thousand lines, and little within 50 MiB. */
const keptCharsMax = 262_144;

/**
 * Writes lines without waiting for the reader. While a pipe is full, it keeps lines up to a limit. Lines beyond the limit,
 * and lines that a broken pipe does not take, are dropped and counted. A line with their number precedes the next line.
 */
export class LogOutput {
  readonly #stream: LogStream;
  readonly #clock: Clock;
  #keptChars = 0;
  #dropped = 0;
  #untold = 0;

  constructor(stream: LogStream, clock: Clock) {
    this.#stream = stream;
    this.#clock = clock;
  }

  /** Lines that the reader never gets. */
  get dropped(): number {
    return this.#dropped;
  }

  write(line: string): void {
    if (this.#keptChars + line.length > keptCharsMax) {
      this.#dropped += 1;
      this.#untold += 1;
      return;
    }
    const told = this.#untold;
    const text = told === 0 ? line : `${this.#droppedLine(told)}${line}`;
    this.#untold = 0;
    this.#keptChars += text.length;
    this.#stream.write(text, (error) => {
      this.#keptChars -= text.length;
      if (error === undefined || error === null) return;
      this.#dropped += 1;
      this.#untold += told + 1;
    });
  }

  #droppedLine(lines: number): string {
    const time = new Date(this.#clock.wallMs()).toISOString();
    const message = "Lines of this log were dropped because they were not read";
    return `${JSON.stringify({ time, level: "error", message, lines })}\n`;
  }
}
