import { writeSync } from "node:fs";
import type { Clock } from "../base/clock.ts";
import { errnoOf } from "../base/errors.ts";

/** Pause before a full pipe is tried again; a reader empties 64 KiB in far less. */
const retryMs = 20;
/** How long a stuck reader may delay the end of the process. */
const endMsMax = 2_000;

interface Waiting {
  rest: Buffer;
  readonly done: (error?: Error) => void;
}

/**
 * Writes to an open descriptor, and retries what a pipe with O_NONBLOCK did not take. The caller limits how much may
 * wait.
 */
export class DescriptorStream {
  readonly #descriptor: number;
  readonly #clock: Clock;
  readonly #waiting: Waiting[] = [];

  constructor(descriptor: number, clock: Clock) {
    this.#descriptor = descriptor;
    this.#clock = clock;
  }

  write(text: string, done: (error?: Error) => void): void {
    const rest = Buffer.from(text);
    this.#waiting.push({ rest, done });
    if (this.#waiting.length === 1) this.#flush();
  }

  /** Resolves once everything is written, or after `endMsMax`. */
  async end(): Promise<void> {
    for (let leftMs = endMsMax; this.#waiting.length > 0 && leftMs > 0; leftMs -= retryMs)
      await this.#clock.sleep(retryMs);
  }

  #flush(): void {
    for (let [first] = this.#waiting; first !== undefined; [first] = this.#waiting) {
      if (!this.#wrote(first)) {
        this.#clock.after(retryMs, () => this.#flush());
        return;
      }
      this.#waiting.shift();
    }
  }

  /** False while the pipe is full. Any other error goes to the writer's callback. */
  #wrote(line: Waiting): boolean {
    try {
      while (line.rest.length > 0) line.rest = line.rest.subarray(writeSync(this.#descriptor, line.rest));
      line.done();
    } catch (thrown) {
      if (errnoOf(thrown) === "EAGAIN") return false;
      line.done(thrown as Error); // what the file system throws
    }
    return true;
  }
}
