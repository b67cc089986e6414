import type { Clock } from "../../base/clock.ts";
import { readRegularFile } from "../../base/regular-file.ts";
import { KubeError } from "../client/api.ts";

/** A token has 1 to 2 KiB, a bundle of authorities some dozen. */
const bytesMax = 1_048_576;
/** Kubelet replaces a token at 80 % of its life, so a second late is early. Reading costs less than watching the folder. */
const freshMs = 1000;

/** A small file that somebody replaces now and then. Read again when it is needed and the last reading is old. */
export class FreshFile {
  readonly path: string;
  readonly #clock: Clock;
  #text: string | undefined;
  #readAtMs = -Infinity;

  constructor(path: string, clock: Clock) {
    this.path = path;
    this.#clock = clock;
  }

  async text(): Promise<string> {
    const nowMs = this.#clock.monotonicMs();
    if (this.#text !== undefined && nowMs - this.#readAtMs < freshMs) return this.#text;
    try {
      const read = await readFilledFile(this.path);
      this.#text = read;
      this.#readAtMs = nowMs;
      return read;
    } catch (cause) {
      return this.#lastGood(cause);
    }
  }

  /** The next reading is from the disk. */
  expire(): void {
    this.#readAtMs = -Infinity;
  }

  /** A file that is missing while it is being replaced is no reason to stop: the server says when the old one is not good any more. */
  #lastGood(cause: unknown): string {
    if (this.#text !== undefined) return this.#text;
    const why = cause instanceof Error ? cause.message : String(cause);
    throw new KubeError("api-unreachable", `Cannot read ${this.path} to be known to the API server: ${why}`, { cause });
  }
}

/** The text of such a file as it is now. Throws when there is none in it. */
export async function readFilledFile(path: string): Promise<string> {
  // Kubelet's files are links into a folder that is swapped as a whole.
  const read = (await readRegularFile(path, { bytesMax, followLinks: true })).toString("utf8");
  if (read.trim() === "") throw new Error("it is empty");
  return read;
}
