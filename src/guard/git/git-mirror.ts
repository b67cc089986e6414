import { existsSync, mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import type { Clock } from "../../base/clock.ts";
import { folderBytes } from "./folder-bytes.ts";
import { credentialProblem, gitEnvironment } from "./git-environment.ts";
import { GitProblem, problemOf } from "./git-problem.ts";
import type { GitRepository } from "./git-repository.ts";
import { runGit, type GitEnd } from "./run-git.ts";
import { parseTree, type TreeEntry } from "./tree-entry.ts";

interface GitMirrorOptions {
  readonly clock: Clock;
  readonly repository: GitRepository;
  /** Used by this mirror alone. Its content is thrown away when in doubt. */
  readonly folder: string;
  readonly program?: string;
  /** The folder's largest size. */
  readonly bytesMax?: number;
  readonly networkTimeoutMs?: number;
}

/** Trees of one commit and a few files: a repository of 100,000 files has about 20 MiB of trees. */
const defaultBytesMax = 67_108_864;
const defaultNetworkTimeoutMs = 60_000;
const localTimeoutMs = 20_000;
/** Far above a folder of manifests, which has tens of files. */
const listBytesMax = 1_048_576;

interface GitCall {
  readonly args: readonly string[];
  readonly doing: string;
  readonly signal?: AbortSignal;
  readonly input?: Uint8Array | string;
  readonly env?: Readonly<Record<string, string>>;
  readonly stdoutBytesMax?: number;
}

export interface PushTarget {
  readonly branch: string;
  /** The branch must not exist yet. */
  readonly isNew: boolean;
  readonly isDryRun?: boolean;
}

/**
 * A shallow copy of one repository without file contents, which are fetched one by one on demand. One caller at a time:
 * use `exclusive`.
 */
export class GitMirror {
  readonly repository: GitRepository;
  readonly #options: GitMirrorOptions;
  readonly #home: string;
  readonly folder: string;
  #isMade = false;
  /** How many commits, starting at this one, are in the copy. */
  readonly #depths = new Map<string, number>();
  #turn: Promise<unknown> = Promise.resolve();

  constructor(options: GitMirrorOptions) {
    this.#options = options;
    this.repository = options.repository;
    this.folder = join(options.folder, "mirror.git");
    this.#home = join(options.folder, "home");
  }

  /** Runs `work` alone. Every fetch of a new commit leaves a pack behind, so a half-full copy is discarded first. */
  async exclusive<T>(work: () => Promise<T>): Promise<T> {
    const { bytesMax = defaultBytesMax } = this.#options;
    const begin = (): Promise<T> => {
      if (this.#isLarge(bytesMax / 2)) this.#discard();
      return work();
    };
    const mine = this.#turn.then(begin, begin);
    this.#turn = mine.catch(() => undefined);
    return mine;
  }

  /** The branch of an Application's revision and its newest commit; undefined when there is no such branch. */
  async tip(revision: string, signal?: AbortSignal): Promise<{ branch: string; commit: string } | undefined> {
    const isDefault = revision === "" || revision === "HEAD";
    const wanted = isDefault ? "HEAD" : `refs/heads/${revision}`;
    const { url } = this.repository;
    const args = ["ls-remote", "--symref", "--", url, wanted];
    const { stdout } = await this.#talk({ args, doing: `read the branches of ${url}`, ...given(signal) });
    const lines = stdout.toString("utf8").split("\n");
    const head = lines.map((line) => /^ref: refs\/heads\/(\S+)\tHEAD$/.exec(line)?.[1]).find(Boolean);
    const commit = lines.map((line) => /^([0-9a-f]{40,64})\t(\S+)$/.exec(line)).find((found) => found?.[2] === wanted);
    const branch = isDefault ? head : revision;
    return branch === undefined || commit?.[1] === undefined ? undefined : { branch, commit: commit[1] };
  }

  /** Fetches the trees of the newest `depth` commits of a branch. Resolves with the newest commit. */
  async fetch(branch: string, depth: number, signal?: AbortSignal): Promise<string> {
    const { url } = this.repository;
    const tip = await this.tip(branch, signal);
    if (tip === undefined) throw new GitProblem("content", `Cannot read ${url}: it has no branch ${branch}`);
    await this.#make(tip.commit.length);
    if ((this.#depths.get(tip.commit) ?? 0) >= depth) return tip.commit;
    // One ref for all branches, because one branch's name could be a folder of another's.
    const ref = "refs/levee/tip";
    const options = ["--no-tags", "--no-write-fetch-head", "--filter=blob:none", `--depth=${depth}`];
    const args = ["fetch", "-q", ...options, "--", "origin", `+refs/heads/${branch}:${ref}`];
    await this.#talk({ args, doing: `fetch ${branch} of ${url}`, env: this.#gitDir(), ...given(signal) });
    const read = await this.local({ args: ["rev-parse", "--verify", `${ref}^{commit}`], doing: "read the branch" });
    const commit = read.toString("utf8").trim();
    this.#depths.set(commit, depth);
    return commit;
  }

  /** The entries of a commit at this path or below it. */
  async list(commit: string, path: string, isRecursive: boolean): Promise<readonly TreeEntry[]> {
    const flags = ["-z", "--full-tree", ...(isRecursive ? ["-r"] : [])];
    const args = ["ls-tree", ...flags, commit, "--", ...(path === "" ? [] : [path])];
    return parseTree(await this.local({ args, doing: `list ${path}`, stdoutBytesMax: listBytesMax }));
  }

  /** Fetches the contents of these files in one request. */
  async fetchBlobs(shas: readonly string[], signal?: AbortSignal): Promise<void> {
    const { url } = this.repository;
    const options = ["--no-tags", "--no-write-fetch-head", "--filter=blob:none", "--stdin"];
    const args = ["-c", "fetch.negotiationAlgorithm=noop", "fetch", "-q", ...options, "origin"];
    const input = `${shas.join("\n")}\n`;
    await this.#talk({ args, doing: `fetch files of ${url}`, input, env: this.#gitDir(), ...given(signal) });
  }

  /** Undefined for a file larger than `bytesMax`. */
  async blob(sha: string, bytesMax: number): Promise<Uint8Array | undefined> {
    const args = ["cat-file", "-s", sha];
    const size = Number((await this.local({ args, doing: "measure a file" })).toString("utf8"));
    if (size > bytesMax) return undefined;
    return this.local({ args: ["cat-file", "blob", sha], doing: "read a file", stdoutBytesMax: bytesMax });
  }

  /** Undefined without a single parent in the copy. */
  async parentOf(commit: string): Promise<string | undefined> {
    const args = ["rev-list", "--parents", "-n", "1", commit];
    const [, ...parents] = (await this.local({ args, doing: "read a commit" })).toString("utf8").trim().split(" ");
    return parents.length === 1 ? parents[0] : undefined;
  }

  /** The newest commits of a branch, newest first. */
  async history(branch: string, depth: number, signal?: AbortSignal): Promise<readonly string[]> {
    const tip = await this.fetch(branch, depth, signal);
    const args = ["rev-list", `--max-count=${depth}`, tip];
    return (await this.local({ args, doing: "read the history" })).toString("utf8").trim().split("\n");
  }

  /** Pushes one commit, never by force: the branch must not exist, or must be the commit's parent. */
  async push(commit: string, { branch, isNew, isDryRun }: PushTarget, signal?: AbortSignal): Promise<GitEnd> {
    const lease = isNew ? [`--force-with-lease=refs/heads/${branch}:`] : [];
    const options = ["--porcelain", "--no-verify", "--no-thin", "--no-follow-tags", ...lease];
    const dry = isDryRun === true ? ["--dry-run"] : [];
    const args = ["push", ...options, ...dry, "--", "origin", `${commit}:refs/heads/${branch}`];
    return this.#run({ args, doing: "push", env: this.#gitDir(), ...given(signal) }, this.#networkMs());
  }

  /** Runs git without contacting the server. */
  async local(call: GitCall): Promise<Buffer> {
    const end = await this.#run({ ...call, env: { ...this.#gitDir(), ...call.env } }, localTimeoutMs);
    if (end.exitCode === 0) return end.stdout;
    // A damaged copy must not fail for ever.
    this.#discard();
    const problem = problemOf(end, call.doing);
    throw problem.kind === "absent" ? problem : new GitProblem("content", problem.message);
  }

  #gitDir(): Record<string, string> {
    return { GIT_DIR: this.folder };
  }

  #networkMs(): number {
    return this.#options.networkTimeoutMs ?? defaultNetworkTimeoutMs;
  }

  async #talk(call: GitCall): Promise<GitEnd> {
    const lacking = credentialProblem(this.repository);
    if (lacking !== undefined) throw new GitProblem("refused", `Cannot ${call.doing}: ${lacking}`);
    const end = await this.#run(call, this.#networkMs());
    if (end.exitCode === 0) return end;
    // The fault may be in the server or in the copy; a damaged copy must not fail for ever.
    if (call.env !== undefined) this.#discard();
    throw problemOf(end, call.doing);
  }

  async #run(call: GitCall, timeoutMs: number): Promise<GitEnd> {
    const { clock, program, bytesMax = defaultBytesMax } = this.#options;
    mkdirSync(this.#home, { recursive: true, mode: 0o700 });
    const { doing: _, env, ...rest } = call;
    const end = await runGit(clock, {
      ...rest,
      program: program ?? "git",
      env: { ...gitEnvironment(this.repository, this.#home), ...env },
      timeoutMs,
      watch: () => (this.#isLarge(bytesMax) ? `the repository takes more than ${bytesMax} bytes` : undefined),
    });
    // A killed run leaves locks and half a pack behind, which are not worth repairing.
    if (end.stopped !== undefined) this.#discard();
    return end;
  }

  async #make(digits: number): Promise<void> {
    if (this.#isMade && existsSync(join(this.folder, "HEAD"))) return;
    // An earlier process may have left an incomplete copy.
    this.#discard();
    const format = digits === 64 ? "sha256" : "sha1";
    const args = ["init", "-q", "--bare", "--template=", `--object-format=${format}`, this.folder];
    const end = await this.#run({ args, doing: "make a folder for git" }, localTimeoutMs);
    if (end.exitCode !== 0) throw problemOf(end, `make ${this.folder}`);
    this.#isMade = true;
  }

  #discard(): void {
    this.#isMade = false;
    this.#depths.clear();
    rmSync(this.folder, { recursive: true, force: true });
  }

  #isLarge(bytesMax: number): boolean {
    return folderBytes(this.folder) > bytesMax;
  }
}

function given(signal: AbortSignal | undefined): { signal?: AbortSignal } {
  return signal === undefined ? {} : { signal };
}
