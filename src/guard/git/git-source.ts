import type { Clock } from "../../base/clock.ts";
import type { Logger } from "../../base/log.ts";
import type { ApplicationSource, GitFileFacts, GitSourceProblem } from "../facts/world.ts";
import type { GitMirrors } from "./git-mirrors.ts";
import { GitProblem } from "./git-problem.ts";
import { readSource } from "./read-source.ts";

interface GitSourceOptions {
  readonly clock: Clock;
  readonly logger: Logger;
  readonly mirrors: GitMirrors;
  /** The plain git sources of Applications that own CNI daemons. */
  readonly wanted: () => readonly ApplicationSource[];
  readonly lookMs?: number;
  readonly refreshMs?: number;
}

/** How soon a new Application is read. */
const defaultLookMs = 5_000;
/** The age at which a file is read again. A plan's own step reads it anew in any case. */
const defaultRefreshMs = 180_000;
/** Failed reads are retried sooner: in an outage servers come and go. */
const againMs = 30_000;
/** No cluster has more CNI daemons than this; the rest is not read. */
const sourcesMax = 8;

interface Reading {
  readonly source: ApplicationSource;
  /** As last read. Kept while the server is unreachable, because that is when they are needed. */
  readonly files: readonly GitFileFacts[];
  readonly problem: string | undefined;
  readonly atMs: number;
}

/** Reads the CNI daemons' manifests from git in the background, so that callers get an answer at once. */
export class GitSource {
  readonly #options: GitSourceOptions;
  readonly #stop = new AbortController();
  #readings: ReadonlyMap<string, Reading> = new Map();
  #loop: Promise<void> | undefined;

  constructor(options: GitSourceOptions) {
    this.#options = options;
  }

  start(): void {
    this.#loop ??= this.#run();
  }

  files(): readonly GitFileFacts[] {
    return [...this.#readings.values()].flatMap(({ files }) => files);
  }

  problems(): readonly GitSourceProblem[] {
    return [...this.#readings.values()].flatMap(({ source, problem }) =>
      problem === undefined ? [] : [{ ...identityOf(source), problem }],
    );
  }

  /** Every wanted source was read or failed once. */
  hasLooked(): boolean {
    const wanted = this.#options.wanted().slice(0, sourcesMax);
    return wanted.every((source) => this.#readings.has(JSON.stringify(identityOf(source))));
  }

  async close(): Promise<void> {
    this.#stop.abort(new Error("the guard ends"));
    await this.#loop;
  }

  async #run(): Promise<void> {
    const { clock, lookMs = defaultLookMs } = this.#options;
    const { signal } = this.#stop;
    while (!signal.aborted) {
      await this.#refresh();
      await clock.sleep(lookMs, signal).catch(() => undefined);
    }
  }

  async #refresh(): Promise<void> {
    const { clock, wanted, refreshMs = defaultRefreshMs } = this.#options;
    const readings = new Map<string, Reading>();
    for (const source of wanted().slice(0, sourcesMax)) {
      const key = JSON.stringify(identityOf(source));
      const before = this.#readings.get(key);
      if (readings.has(key)) continue;
      const freshMs = before?.problem === undefined ? refreshMs : Math.min(refreshMs, againMs);
      const isFresh = before !== undefined && clock.monotonicMs() - before.atMs < freshMs;
      readings.set(key, isFresh ? before : await this.#read(source, before));
      // A hanging server must not hide the other sources.
      this.#readings = new Map([...this.#readings, ...readings]);
    }
    this.#readings = readings;
  }

  async #read(source: ApplicationSource, before: Reading | undefined): Promise<Reading> {
    const { clock, mirrors } = this.#options;
    const known = new Map((before?.files ?? []).map(({ blobSha, bytes }) => [blobSha, bytes]));
    try {
      const files = await readSource(mirrors, source, known, this.#stop.signal);
      return { source, files, problem: undefined, atMs: clock.monotonicMs() };
    } catch (thrown) {
      return this.#failed(source, thrown, before);
    }
  }

  #failed(source: ApplicationSource, thrown: unknown, before: Reading | undefined): Reading {
    const { clock, logger } = this.#options;
    const problem = thrown instanceof Error ? thrown.message : String(thrown);
    if (problem !== before?.problem) logger.warn("Cannot read git", { why: problem });
    const isAway = thrown instanceof GitProblem && thrown.kind === "unreachable";
    return { source, files: isAway ? (before?.files ?? []) : [], problem, atMs: clock.monotonicMs() };
  }
}

function identityOf({ repository, revision, path }: ApplicationSource): Omit<GitSourceProblem, "problem"> {
  return { repository, revision, path };
}
