import { readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { writeFileAtomically } from "../base/atomic-file.ts";

/**
 * Since when this node has needed a reboot, kept over restarts of the daemon. The sentinel file's own time does not
 * help, because each further package touches it. The value is valid for one boot only.
 */
export class RebootSince {
  readonly #path: string;
  readonly #bootId: string;

  constructor(stateDir: string, bootId: string) {
    this.#path = join(stateDir, "reboot-required-since");
    this.#bootId = bootId;
  }

  /** Wall time in milliseconds; undefined when nothing is kept for this boot. */
  async read(): Promise<number | undefined> {
    const text = await readFile(this.#path, "utf8").catch(() => "");
    const [bootId, wallMs] = text.trim().split(" ");
    return bootId === this.#bootId && /^\d{1,15}$/u.test(wallMs ?? "") ? Number(wallMs) : undefined;
  }

  async write(wallMs: number): Promise<void> {
    // Not synced: a power cut starts a new boot, and the value is void then.
    await writeFileAtomically(this.#path, `${this.#bootId} ${wallMs}\n`, { mode: 0o600, sync: false });
  }

  async forget(): Promise<void> {
    await rm(this.#path, { force: true });
  }
}
