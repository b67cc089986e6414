import { spawnSync } from "node:child_process";
import { realpathSync } from "node:fs";

/** The commit that a release is made of. */
export interface Commit {
  readonly id: string;
  readonly date: Date;
}

const filesNamed = 5;

/** The commit of a checkout without changes. Throws when a release would have something that is not in the commit. */
export function cleanCommit(root: string, env: Readonly<Record<string, string | undefined>>): Commit {
  const top = git(root, "rev-parse", "--show-toplevel");
  if (top !== realpathSync(root))
    throw new Error(`Cannot make a release: ${root} is no git checkout; it lies in the one of ${top}`);
  const [id = "", seconds = ""] = git(root, "log", "-1", "--format=%H %ct").split(" ");
  refuseChanges(git(root, "status", "--porcelain", "--untracked-files=all"));
  const given = env["SOURCE_DATE_EPOCH"] ?? "";
  if (given !== "" && given !== seconds)
    throw new Error(
      `Cannot make a release with SOURCE_DATE_EPOCH=${given}: a release has the date of its commit, ${seconds}; unset it`,
    );
  return { id, date: new Date(Number(seconds) * 1_000) };
}

function refuseChanges(status: string): void {
  const changed = status.split("\n").filter((line) => line !== "");
  if (changed.length === 0) return;
  const more = changed.length > filesNamed ? `\n  and ${changed.length - filesNamed} more` : "";
  throw new Error(
    `Cannot make a release: these files are not as in the last commit. Commit them, or take them away with git stash -u:\n  ${changed.slice(0, filesNamed).join("\n  ")}${more}`,
  );
}

function git(root: string, ...args: readonly string[]): string {
  const { status, stdout, stderr, error } = spawnSync("git", ["-C", root, ...args], {
    encoding: "utf8",
    maxBuffer: 16 * 1024 * 1024,
  });
  if (status === 0) return stdout.replace(/\n+$/u, "");
  throw new Error(
    `Cannot make a release: git ${args[0] ?? ""} failed in ${root}: ${error?.message ?? stderr.trim()}; a release is made of a git checkout`,
  );
}
