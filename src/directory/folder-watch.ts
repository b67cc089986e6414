import { watch, type FSWatcher } from "node:fs";

/** Watches a changing set of folders. The slow rescan finds the changes it misses, so no failure here is fatal. */
export class FolderWatch {
  readonly #onChange: (folder: string) => void;
  readonly #onFailure: (folder: string, error: Error) => void;
  readonly #watchers = new Map<string, { readonly watcher: FSWatcher; readonly identity: string }>();
  #isClosed = false;

  constructor(onChange: (folder: string) => void, onFailure: (folder: string, error: Error) => void) {
    this.#onChange = onChange;
    this.#onFailure = onFailure;
  }

  get folders(): readonly string[] {
    return [...this.#watchers.keys()];
  }

  /** A folder that was removed and made again needs a new watch: the old watch is on the removed folder. */
  add(folder: string, identity: string): void {
    if (this.#isClosed || this.#watchers.get(folder)?.identity === identity) return;
    this.#drop(folder);
    try {
      const watcher = watch(folder, { persistent: false }, () => this.#onChange(folder));
      this.#watchers.set(folder, { watcher, identity });
      watcher.on("error", (error) => this.#fail(folder, error));
    } catch (thrown) {
      // The usual cause is the user's limit of inotify watches.
      this.#onFailure(folder, thrown instanceof Error ? thrown : new Error(String(thrown)));
    }
  }

  /** Ends the watches of all folders but these. */
  keepOnly(folders: ReadonlySet<string>): void {
    for (const folder of this.folders) if (!folders.has(folder)) this.#drop(folder);
  }

  close(): void {
    this.#isClosed = true;
    for (const folder of this.folders) this.#drop(folder);
  }

  #fail(folder: string, error: Error): void {
    this.#drop(folder);
    this.#onFailure(folder, error);
    this.#onChange(folder);
  }

  #drop(folder: string): void {
    this.#watchers.get(folder)?.watcher.close();
    this.#watchers.delete(folder);
  }
}
