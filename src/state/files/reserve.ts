import { disk } from "../../base/disk/disk.ts";
import { writeFileAtomically } from "../../base/atomic-file.ts";
import type { Clock } from "../../base/clock.ts";
import { errnoOf } from "../../base/errors.ts";

/** Room for about five hundred DELs, each with about 130 bytes in the journal and in the index. */
export const reserveBytes = 65_536;

/**
 * Disk blocks for the day the disk is full, so that DELs can still be recorded. They are released on a full disk, and
 * taken again before the next ADD.
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

  /** Checks whether the blocks of an earlier run are still there. */
  async find(): Promise<void> {
    const found = await disk.stat(this.#path).catch(() => undefined);
    this.#held = found?.size === reserveBytes;
  }

  /** Takes the blocks unless they are held. Writes random bytes, because zeros may be stored as a hole. */
  async take(): Promise<void> {
    if (this.#held) return;
    await writeFileAtomically(this.#path, this.#clock.randomBytes(reserveBytes), { mode: 0o600, sync: true });
    this.#held = true;
  }

  async release(): Promise<void> {
    this.#held = false;
    await disk.unlink(this.#path).catch((cause: unknown) => {
      if (errnoOf(cause) !== "ENOENT") throw cause;
    });
  }
}
