import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { run } from "../run.ts";

const author = ["-c", "user.name=infra", "-c", "user.email=infra@example.com", "-c", "commit.gpgsign=false"];

/** A real bare repository, with one commit on `main`. */
export class BareRepository {
  readonly folder: string;

  private constructor(folder: string) {
    this.folder = folder;
  }

  /** `files` by path. */
  static make(parent: string, files: Readonly<Record<string, string>>): BareRepository {
    const repository = new BareRepository(join(parent, "infra.git"));
    const work = join(parent, "infra");
    run("git", "init", "--quiet", "--bare", "--initial-branch=main", repository.folder);
    run("git", "init", "--quiet", "--initial-branch=main", work);
    for (const [path, text] of Object.entries(files)) {
      mkdirSync(dirname(join(work, path)), { recursive: true });
      writeFileSync(join(work, path), text);
    }
    run("git", "-C", work, "add", "--all");
    run("git", "-C", work, ...author, "commit", "--quiet", "-m", "Everything that runs here");
    run("git", "-C", work, "push", "--quiet", repository.folder, "main");
    return repository;
  }

  /** The text of a file on a branch. */
  file(branch: string, path: string): string {
    return this.git("show", `${branch}:${path}`);
  }

  branches(): readonly string[] {
    return this.git("for-each-ref", "--format=%(refname:short)", "refs/heads").trim().split("\n");
  }

  /** The changes of a branch against another, each as a line of status and path. */
  changes(from: string, to: string): readonly string[] {
    const lines = this.git("diff-tree", "-r", "--no-renames", "--name-status", from, to).trim();
    return lines === "" ? [] : lines.split("\n");
  }

  /** From now on every push is refused, or none. */
  refusePushes(isRefused: boolean): void {
    const hook = `#!/bin/sh\n${isRefused ? 'echo "the branch is protected" >&2; exit 1' : "exit 0"}\n`;
    writeFileSync(join(this.folder, "hooks/pre-receive"), hook, { mode: 0o755 });
  }

  git(...args: readonly string[]): string {
    return run("git", "--git-dir", this.folder, ...args);
  }
}
