import { readFile } from "node:fs/promises";
import type { Command } from "commander";
import { examples } from "../command-line.ts";
import { CommandFailure, usageFailure } from "../failure.ts";
import { cannotTell, Git } from "../git-guard/ask-git.ts";
import { refuseCutHistory, refuseShallow } from "../git-guard/cut-history.ts";
import { defaultDeletionLimits, type DeletionLimits } from "../git-guard/deletion-rule.ts";
import { judgeIndex } from "../git-guard/judge-index.ts";
import { judgePush, parseUpdates } from "../git-guard/judge-push.ts";
import { judgeRange } from "../git-guard/judge-range.ts";
import { massDeleteOf } from "../git-guard/mass-delete-trailer.ts";
import { refusalOf } from "../git-guard/refusal-text.ts";
import type { Shell } from "../shell.ts";

interface GitGuardOptions {
  readonly filesMax: string;
  readonly percentMax: string;
  readonly repository?: string;
}

export function addGitGuard(program: Command, shell: Shell): void {
  const group = program
    .command("git-guard")
    .configureHelp({ showGlobalOptions: false })
    .description("Refuse a commit or a push that deletes many files without declaring it: for hooks and CI")
    .addHelpText(
      "after",
      [
        "\nA change may delete 20 files or a tenth of all files, whichever is less. It may always delete 3, unless those are",
        "all files. A moved file does not count; a file that is emptied does. To delete more, declare the exact number in the",
        "commit message's last paragraph:",
        "",
        "  Mass-Delete: 42",
        "",
        "Exit status: 0 accepted, 1 refused, 2 wrong command line, 3 could not check. Hooks: docs/git-guard.md.",
        examples(
          "levee git-guard pre-commit",
          'levee git-guard commit-msg "$1"',
          "levee git-guard pre-receive",
          "levee git-guard ci --base origin/main --head HEAD",
        ),
      ].join("\n"),
    );
  addMode(group, "pre-commit", "Judge the next commit: the index against HEAD").action(
    async (options: GitGuardOptions) => preCommit(shell, options),
  );
  addMode(group, "commit-msg", "Judge the next commit with its message, so that a Mass-Delete line counts")
    .argument("<file>", "the file with the message, as git passes it to the hook")
    .action(async (file: string, options: GitGuardOptions) => commitMessage(shell, file, options));
  addMode(group, "pre-receive", "Judge a push on the server: lines of OLD NEW REF on standard input").action(
    async (options: GitGuardOptions) => preReceive(shell, options),
  );
  addMode(group, "ci", "Judge what a branch changes, for forges without hooks")
    .requiredOption("--base <ref>", "the branch to merge into, or the commit before the push")
    .option("--head <ref>", "the branch", "HEAD")
    .action(async (options: GitGuardOptions & { base: string; head: string }) => ci(shell, options));
}

function addMode(group: Command, name: string, description: string): Command {
  return group
    .command(name)
    .configureHelp({ showGlobalOptions: false })
    .description(description)
    .option("--files-max <count>", "the most files that may be deleted", String(defaultDeletionLimits.filesMax))
    .option(
      "--percent-max <share>",
      "the largest share that may be deleted, in percent",
      String(defaultDeletionLimits.percentMax),
    )
    .option("-C, --repository <folder>", "the repository (default: the current folder)");
}

/** Without the number: a script must not be able to paste the line unread. */
const inCommit =
  "end the message with a separate paragraph, Mass-Delete: NUMBER, the number of files that it deletes and empties";

/** This hook has no message. A person declares the deletion in the environment, or uses the hook commit-msg instead. */
async function preCommit(shell: Shell, options: GitGuardOptions): Promise<void> {
  const said = shell.env["MASS_DELETE"] ?? "";
  const declared = /^\d{1,9}$/.test(said) ? Number(said) : undefined;
  const refusal = await judgeIndex(gitOf(shell, options), declared, limitsOf(options));
  if (refusal === undefined) return;
  throw refusalOf(
    refusal,
    `git status; if you mean it, set MASS_DELETE to the number of files that it deletes and empties, and ${inCommit}`,
  );
}

async function commitMessage(shell: Shell, file: string, options: GitGuardOptions): Promise<void> {
  const message = await readFile(file, "utf8").catch((cause: unknown) => {
    throw new CommandFailure("git-guard-input", `Cannot read the message in ${file}`, { exitCode: cannotTell, cause });
  });
  const refusal = await judgeIndex(gitOf(shell, options), massDeleteOf(message), limitsOf(options));
  if (refusal !== undefined) throw refusalOf(refusal, `git status; if you mean it, ${inCommit}`);
}

async function preReceive(shell: Shell, options: GitGuardOptions): Promise<void> {
  const limits = limitsOf(options);
  const updates = parseUpdates((await shell.input?.()) ?? "");
  const refusal = await judgePush(gitOf(shell, options), updates, limits);
  if (refusal === undefined) return;
  if (typeof refusal === "string")
    throw new CommandFailure("mass-delete", `Refused: ${refusal}`, {
      remedy: "make another branch the server's HEAD first, then delete this one",
    });
  throw refusalOf(refusal, `look at it (git show --stat); if you mean it, ${inCommit}, and push again`);
}

async function ci(shell: Shell, options: GitGuardOptions & { base: string; head: string }): Promise<void> {
  const git = gitOf(shell, options);
  const limits = limitsOf(options);
  const next = await commitOf(git, options.head, "--head");
  // Forges send zeros for a new branch; then only its newest commit is judged.
  const isNew = /^0{40}(?:0{24})?$/.test(options.base);
  const base = isNew ? await git.commit(`${next}^`) : await commitOf(git, options.base, "--base");
  if (base === undefined) {
    await refuseCutHistory(git, [next]);
    return;
  }
  const left = await git.mergeBase(base, next);
  if (left === undefined) await refuseShallow(git, options.base);
  const old = left ?? base;
  const what = `${options.head} since ${options.base}`;
  const refusal = await judgeRange(git, { what, old, next, known: ["--not", base] }, limits);
  if (refusal !== undefined) throw refusalOf(refusal, `look at it (git show --stat); if you mean it, ${inCommit}`);
}

async function commitOf(git: Git, name: string, option: string): Promise<string> {
  const commit = await git.commit(name);
  if (commit !== undefined) return commit;
  throw new CommandFailure("git-failed", `Cannot find the commit ${name} of ${option}`, {
    exitCode: cannotTell,
    remedy: "fetch the whole history (fetch-depth: 0), and name a branch as origin/NAME",
  });
}

function gitOf(shell: Shell, { repository }: GitGuardOptions): Git {
  return new Git(shell, repository);
}

function limitsOf({ filesMax, percentMax }: GitGuardOptions): DeletionLimits {
  return {
    filesMax: countOf(filesMax, "--files-max", 1_000_000),
    percentMax: countOf(percentMax, "--percent-max", 100),
  };
}

function countOf(text: string, option: string, max: number): number {
  const value = /^\d{1,7}$/.test(text) ? Number(text) : -1;
  if (value >= 0 && value <= max) return value;
  throw usageFailure(`${option} ${text} is not a whole number from 0 to ${max}`, "levee git-guard --help");
}
