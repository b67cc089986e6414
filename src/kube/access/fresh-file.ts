import type { Clock } from "../../base/clock.ts";
import { readRegularFile } from "../../base/regular-file.ts";
import { KubeError } from "../client/api.ts";

/** A token has 1 to 2 KiB, a bundle of authorities some dozen KiB. */
const bytesMax = 1_048_576;
/** Kubelet replaces a token at 80 % of its life, so a second of delay is harmless. Reading is cheaper than watching the folder. */
const freshMs = 1000;

/** A small file that is replaced now and then. It is read again on use when the last read is old. */
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

  /** The next `text()` reads the disk. */
  expire(): void {
    this.#readAtMs = -Infinity;
  }

  /** A file may be missing while it is replaced. The old text serves until the server refuses it. */
  #lastGood(cause: unknown): string {
    if (this.#text !== undefined) return this.#text;
    const why = cause instanceof Error ? cause.message : String(cause);
    throw new KubeError("api-unreachable", `Cannot read the credentials for the API server from ${this.path}: ${why}`, {
      cause,
    });
  }
}

/** The present text of such a file. Throws when it is empty. */
export async function readFilledFile(path: string): Promise<string> {
  // Kubelet's files are links into a folder that is replaced as a whole.
  const read = (await readRegularFile(path, { bytesMax, followLinks: true })).toString("utf8");
  if (read.trim() === "") throw new Error("it is empty");
  return read;
}
