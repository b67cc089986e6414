import type { Clock } from "./clock.ts";

/** Where lines go: a stream as Node has it. `done` is called when the text has left, or never will. */
export interface LogStream {
  write(text: string, done: (error?: Error | null) => void): unknown;
}

/** What a reader that is stuck may make us keep: a thousand lines, and no burden within 50 MiB. */
const keptCharsMax = 262_144;

/**
 * Writes lines without ever waiting for who reads them. While a pipe is full, what came first is kept, up to a limit;
 * what comes then, and all that a broken pipe does not take, is dropped and counted. The next line that can be written
 * has the number before it.
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

  /** Lines that nobody will read. */
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
    const text = told === 0 ? line : `${this.#notice(told)}${line}`;
    this.#untold = 0;
    this.#keptChars += text.length;
    this.#stream.write(text, (error) => {
      this.#keptChars -= text.length;
      if (error === undefined || error === null) return;
      this.#dropped += 1;
      this.#untold += told + 1;
    });
  }

  #notice(lines: number): string {
    const time = new Date(this.#clock.wallMs()).toISOString();
    const message = "Lines of this log were dropped as nobody read them";
    return `${JSON.stringify({ time, level: "error", message, lines })}\n`;
  }
}
