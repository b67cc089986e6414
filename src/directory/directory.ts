import { opendir } from "node:fs/promises";
import type { Namespace, PodName } from "../base/brand.ts";
import type { Cancel, Clock } from "../base/clock.ts";
import { LeveeError, toLeveeError } from "../base/errors.ts";
import type { Logger } from "../base/log.ts";
import { Waiters } from "../base/waiters.ts";
import { buildCatalogue, objectKey, type Catalogue } from "./catalogue.ts";
import { Contents } from "./contents.ts";
import { FolderWatch } from "./folder-watch.ts";
import { loadParser, type ParseFile } from "./parse-file.ts";
import type { DirectoryProblem } from "./directory-problem.ts";
import type { WantedPod } from "../view/view.ts";
import type { NetworkDefinition } from "../view/network-definition.ts";
import type { PodChange, PodFacts } from "../view/pod-facts.ts";

interface DirectoryOptions {
  readonly folder: string;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** An editor writes, renames and removes in one go. One scan then serves all these events. */
const settleMs = 50;
/** inotify drops events when its queue is full, and network file systems send none. */
const rescanMs = 10_000;

/** Pods and networks from a folder of YAML, for a machine without a cluster. Writes nothing. */
export class Directory {
  readonly #options: DirectoryOptions;
  readonly #contents: Contents;
  readonly #watch: FolderWatch;
  readonly #waiters = new Waiters<PodFacts>();
  #stopRescan: Cancel = () => undefined;
  #catalogue: Catalogue = buildCatalogue([]);
  #logged: ReadonlySet<string> = new Set();
  #changes = 0;
  readonly #listeners = new Set<(change: PodChange) => void>();
  #seenFolders = new Set<string>();
  #cancelScan: Cancel | undefined;
  #scanning: Promise<void> | undefined;
  #isDirty = false;
  #isClosed = false;

  /** Loads everything, then watches. Fails when the folder cannot be read. A broken file in it is a problem, not a failure. */
  static async open(options: DirectoryOptions): Promise<Directory> {
    await requireFolder(options.folder);
    const directory = new Directory(options, await loadParser());
    await directory.#scan();
    directory.#stopRescan = options.clock.every(rescanMs, () => directory.#scanNow());
    return directory;
  }

  private constructor(options: DirectoryOptions, parse: ParseFile) {
    this.#options = options;
    this.#watch = new FolderWatch(
      () => this.#scanSoon(),
      (folder, error) =>
        options.logger.warn("Cannot watch a folder, so its changes are seen every 10 s only", {
          folder,
          error: error.message,
        }),
    );
    const onFolder = (path: string, identity: string): void => {
      this.#seenFolders.add(path);
      this.#watch.add(path, identity);
    };
    this.#contents = new Contents({ folder: options.folder, clock: options.clock, parse, onFolder });
  }

  findPod(namespace: Namespace, name: PodName): Promise<PodFacts | undefined> {
    return Promise.resolve(this.#catalogue.pods.get(objectKey(namespace, name)));
  }

  findNetwork(namespace: Namespace, name: string): Promise<NetworkDefinition | undefined> {
    return Promise.resolve(this.#catalogue.networks.get(objectKey(namespace, name)));
  }

  networks(): readonly NetworkDefinition[] {
    return [...this.#catalogue.networks.values()];
  }

  pods(): readonly PodFacts[] {
    return [...this.#catalogue.pods.values()];
  }

  /** Called for each pod whose objects in the folder changed. */
  onPodChange(listener: (change: PodChange) => void): Cancel {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  /** Resolves when the wanted pod is there. Rejects with the signal's reason, or `cancelled` when the directory is closed. */
  async waitForPod(wanted: WantedPod, signal: AbortSignal): Promise<PodFacts> {
    signal.throwIfAborted();
    const key = objectKey(wanted.namespace, wanted.name);
    const pod = this.#catalogue.pods.get(key);
    if (pod !== undefined && wanted.isWanted(pod)) return pod;
    if (this.#isClosed) throw closedError();
    const { namespace, name, isWanted } = wanted;
    const isIt = (one: PodFacts): boolean => one.name === name && one.namespace === namespace && isWanted(one);
    const found = this.#waiters.wait(isIt, signal);
    // A caller waits, so the scan does not wait until the events have settled.
    this.#scanNow();
    return found;
  }

  /** Counts the changes of the served objects. */
  get changes(): number {
    return this.#changes;
  }

  problems(): readonly DirectoryProblem[] {
    return [...this.#contents.problems(), ...this.#catalogue.problems];
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    this.#stopRescan();
    this.#cancelScan?.();
    this.#watch.close();
    this.#waiters.rejectAll(closedError());
    await this.#scanning;
  }

  /** Counts from the first event, not from the last: a file that is written all the time must not delay the others. */
  #scanSoon(): void {
    if (this.#isClosed || this.#cancelScan !== undefined) return;
    this.#cancelScan = this.#options.clock.after(settleMs, () => {
      this.#cancelScan = undefined;
      this.#scanNow();
    });
  }

  /** One scan at a time. The next scan sees the changes that happen during it. */
  #scanNow(): void {
    if (this.#isClosed) return;
    if (this.#scanning !== undefined) {
      this.#isDirty = true;
      return;
    }
    this.#scanning = this.#scan()
      .catch((thrown: unknown) => this.#logDefect(thrown))
      .finally(() => {
        this.#scanning = undefined;
        if (this.#isDirty) this.#scanSoon();
        this.#isDirty = false;
      });
  }

  /** A scan turns every failure of a file into a problem. Any other error is a defect of Levee and must not end the daemon. */
  #logDefect(thrown: unknown): void {
    this.#options.logger.error("A scan of the directory failed", {
      folder: this.#options.folder,
      error: toLeveeError(thrown, "Cannot scan the directory").message,
    });
  }

  async #scan(): Promise<void> {
    this.#seenFolders = new Set();
    const isChanged = await this.#contents.refresh();
    if (this.#isClosed) return;
    this.#watch.keepOnly(this.#seenFolders);
    if (isChanged) {
      const before = this.#catalogue;
      this.#catalogue = buildCatalogue(this.#contents.files);
      this.#changes += 1;
      this.#tellChanges(before);
      for (const pod of this.#catalogue.pods.values()) this.#waiters.serve(pod);
    }
    this.#logProblems();
  }

  /** A pod of an unchanged file is the same object as before. */
  #tellChanges({ pods: before }: Catalogue): void {
    if (this.#listeners.size === 0) return;
    const { pods } = this.#catalogue;
    for (const key of new Set([...before.keys(), ...pods.keys()])) {
      const change = { before: before.get(key), now: pods.get(key) };
      if (change.before !== change.now) for (const listener of this.#listeners) listener(change);
    }
  }

  /** Logs each problem when it appears, and the end of the last one. */
  #logProblems(): void {
    const { logger, folder } = this.#options;
    const problems = new Map(this.problems().map((problem) => [JSON.stringify(problem), problem]));
    for (const [key, { file, line, reason }] of problems)
      if (!this.#logged.has(key)) logger.warn("Problem in the directory", { folder, file, line, reason });
    if (problems.size === 0 && this.#logged.size > 0) logger.info("The directory has no more problems", { folder });
    this.#logged = new Set(problems.keys());
  }
}

async function requireFolder(folder: string): Promise<void> {
  try {
    const handle = await opendir(folder);
    await handle.close();
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause);
    throw new LeveeError(
      "setting-invalid",
      `Cannot open the directory as it must be a readable folder: current value is ${folder} (${why})`,
      { cause },
    );
  }
}

function closedError(): LeveeError {
  return new LeveeError("cancelled", "Cannot wait for a pod as the directory is closed");
}
