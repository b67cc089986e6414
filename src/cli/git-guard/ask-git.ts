import { spawn } from "node:child_process";
import { errnoOf } from "../../base/errors.ts";
import { lastChars } from "../../base/short-text.ts";
import { CommandFailure } from "../failure.ts";
import type { Shell } from "../shell.ts";

/** A hook that cannot check accepts nothing. 1 is a refusal; this is "could not check". */
export const cannotTell = 3;
/** git lists a tree of a million files in seconds. */
const timeoutMs = 120_000;
const stderrCharsMax = 2_000;

interface GitQuestion {
  readonly args: readonly string[];
  readonly input?: string;
  /** Called for each record that ends with NUL, or for each line with `isLines`. */
  readonly onRecord: (record: string) => void;
  readonly isLines?: boolean;
  /** Exit codes besides 0 that are an answer. */
  readonly answers?: readonly number[];
}

/** Asks the hook's repository. git tells its hooks where that is with variables, which we pass on. */
export class Git {
  readonly #shell: Shell;
  readonly #folder: string | undefined;

  constructor(shell: Shell, folder: string | undefined) {
    this.#shell = shell;
    this.#folder = folder;
  }

  async text(...args: readonly string[]): Promise<string> {
    const lines: string[] = [];
    await this.ask({ args, onRecord: (line) => void lines.push(line), isLines: true });
    return lines.join("\n").trim();
  }

  /** Undefined if there is no such commit. */
  async commit(name: string): Promise<string | undefined> {
    const lines: string[] = [];
    const args = ["rev-parse", "--verify", "--quiet", "--end-of-options", `${name}^{commit}`];
    const status = await this.ask({ args, onRecord: (line) => void lines.push(line), isLines: true, answers: [1] });
    return status === 0 ? lines[0] : undefined;
  }

  /** Undefined if the two have no common commit. */
  async mergeBase(one: string, other: string): Promise<string | undefined> {
    const lines: string[] = [];
    const args = ["merge-base", one, other];
    const status = await this.ask({ args, onRecord: (line) => void lines.push(line), isLines: true, answers: [1] });
    return status === 0 ? lines[0] : undefined;
  }

  ask(question: GitQuestion): Promise<number> {
    const { clock, interrupted } = this.#shell;
    const args = [...(this.#folder === undefined ? [] : ["-C", this.#folder]), ...question.args];
    return new Promise((resolve, reject) => {
      const child = spawn("git", args, { env: this.#env(), stdio: ["pipe", "pipe", "pipe"] });
      const records = splitter(question);
      let stderr = "";
      const stop = (): void => void child.kill("SIGKILL");
      const cancel = clock.after(timeoutMs, stop);
      interrupted.addEventListener("abort", stop, { once: true });
      child.stdout.on("data", records.take);
      child.stderr.on("data", (chunk: Buffer) => (stderr = lastChars(stderr + chunk.toString("utf8"), stderrCharsMax)));
      child.stdin.on("error", () => undefined);
      child.stdin.end(question.input ?? "");
      child.once("error", (error) => reject(failed(question, errnoOf(error) ?? error.message)));
      child.once("close", (code, signal) => {
        cancel();
        interrupted.removeEventListener("abort", stop);
        records.end();
        if (code === 0 || (question.answers ?? []).includes(code ?? -1)) resolve(code ?? 0);
        else reject(failed(question, stderr.trim() || `git ended with ${code ?? signal ?? "nothing"}`));
      });
    });
  }

  #env(): Record<string, string> {
    const env: Record<string, string> = { LC_ALL: "C", GIT_NO_REPLACE_OBJECTS: "1", GIT_OPTIONAL_LOCKS: "0" };
    for (const [name, value] of Object.entries(this.#shell.env)) {
      const isForGit = name.startsWith("GIT_") || ["PATH", "HOME", "XDG_CONFIG_HOME"].includes(name);
      if (isForGit && value !== undefined) env[name] = value;
    }
    return env;
  }
}

/** File names may be any bytes. A name that is not UTF-8 is only counted and shown. */
function splitter({ onRecord, isLines }: GitQuestion): { take: (chunk: Buffer) => void; end: () => void } {
  const separator = isLines === true ? 10 : 0;
  let rest = Buffer.alloc(0);
  return {
    take(chunk) {
      const bytes = rest.length === 0 ? chunk : Buffer.concat([rest, chunk]);
      let start = 0;
      for (let end = bytes.indexOf(separator); end !== -1; end = bytes.indexOf(separator, start)) {
        onRecord(bytes.toString("utf8", start, end));
        start = end + 1;
      }
      rest = Buffer.from(bytes.subarray(start));
    },
    end() {
      if (rest.length > 0) onRecord(rest.toString("utf8"));
    },
  };
}

function failed({ args }: GitQuestion, why: string): CommandFailure {
  const [line = ""] = why.split("\n");
  if (line === "ENOENT")
    return new CommandFailure("git-failed", "Cannot ask git: git is not on the PATH", {
      exitCode: cannotTell,
      remedy: "install git, or set PATH in the hook, because servers often give hooks a short one",
    });
  return new CommandFailure("git-failed", `Cannot ask git (${args[0] ?? ""}): ${line}`, {
    exitCode: cannotTell,
    remedy: "run this inside a repository that has the commits; in CI fetch the whole history (fetch-depth: 0)",
  });
}
