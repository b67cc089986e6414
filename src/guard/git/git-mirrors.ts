import { createHash } from "node:crypto";
import { rmSync } from "node:fs";
import { join } from "node:path";
import type { Clock } from "../../base/clock.ts";
import { GitMirror } from "./git-mirror.ts";
import { findRepository, type GitRepository } from "./git-repository.ts";

export interface GitMirrorsOptions {
  readonly clock: Clock;
  readonly repositories: readonly GitRepository[];
  /** The guard's own folder; its content may be lost at any time. */
  readonly folder: string;
  readonly program?: string;
  readonly networkTimeoutMs?: number;
  readonly bytesMax?: number;
}

/** The repositories of the settings, and no others. */
export class GitMirrors {
  readonly #repositories: readonly GitRepository[];
  readonly #folder: string;
  readonly #mirrors: ReadonlyMap<string, GitMirror>;

  constructor({ repositories, folder, ...options }: GitMirrorsOptions) {
    this.#repositories = repositories;
    this.#folder = folder;
    this.#mirrors = new Map(
      repositories.map((repository) => {
        const own = createHash("sha256").update(repository.url).digest("hex").slice(0, 16);
        return [repository.url, new GitMirror({ ...options, repository, folder: join(folder, own) })];
      }),
    );
  }

  /** By the address in an Application or a plan. */
  find(name: string): GitMirror | undefined {
    const repository = findRepository(this.#repositories, name);
    return repository === undefined ? undefined : this.#mirrors.get(repository.url);
  }

  /** Removes the copies. A failure does not matter, because the next process starts anew in any case. */
  discard(): void {
    try {
      rmSync(this.#folder, { recursive: true, force: true });
    } catch {
      // See above.
    }
  }
}
