import { stat, unlink } from "node:fs/promises";
import { writeFileAtomically } from "../../base/atomic-file.ts";
import type { Clock } from "../../base/clock.ts";
import { errnoOf } from "../../base/errors.ts";

/** Some five hundred deletes, each of about 130 bytes in the journal and in the index, fit in here. */
export const reserveBytes = 65_536;

/**
 * Blocks kept for the day the disk is full, so that deletes can still be recorded: given back to the file system
 * then, and taken again before the next ADD is accepted.
 */
export class Reserve {
  readonly #path: string;
  readonly #clock: Clock;
  #held = false;

  constructor(path: string, clock: Clock) {
    this.#path = path;
    this.#clock = clock;
  }

  get held(): boolean {
    return this.#held;
  }

  /** Finds out whether the blocks of an earlier run are still there. */
  async find(): Promise<void> {
    const found = await stat(this.#path).catch(() => undefined);
    this.#held = found?.size === reserveBytes;
  }

  /** Takes the blocks unless they are held. Random bytes, synced: zeros may be stored as a hole. */
  async take(): Promise<void> {
    if (this.#held) return;
    await writeFileAtomically(this.#path, this.#clock.randomBytes(reserveBytes), { mode: 0o600, sync: true });
    this.#held = true;
  }

  /** Gives the blocks back. */
  async release(): Promise<void> {
    this.#held = false;
    await unlink(this.#path).catch((cause: unknown) => {
      if (errnoOf(cause) !== "ENOENT") throw cause;
    });
  }
}
