import { execFileSync } from "node:child_process";
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { systemClock } from "../../base/clock.ts";
import { GitMirrors, type GitMirrorsOptions } from "./git-mirrors.ts";
import { parseGitRepository } from "./git-repository.ts";

/** A real bare repository in a temporary folder, with a clone that writes to it. */
export class GitServer implements Disposable {
  readonly root = mkdtempSync(join(tmpdir(), "levee-git-"));
  readonly bare = join(this.root, "srv", "infra.git");
  readonly clone = join(this.root, "clone");
  readonly url = `file://${this.bare}`;

  constructor(files: Readonly<Record<string, string | Uint8Array>> = {}) {
    this.run("/", "init", "-q", "--bare", "-b", "main", this.bare);
    this.run(this.bare, "config", "uploadpack.allowFilter", "true");
    this.run("/", "clone", "-q", this.url, this.clone);
    this.run(this.clone, "checkout", "-q", "-b", "main");
    if (Object.keys(files).length > 0) this.commit(files);
  }

  /** Writes files, commits them and pushes the commit to a branch. */
  commit(files: Readonly<Record<string, string | Uint8Array>>, branch = "main"): string {
    for (const [path, content] of Object.entries(files)) {
      mkdirSync(dirname(join(this.clone, path)), { recursive: true });
      writeFileSync(join(this.clone, path), content);
    }
    return this.commitAll(branch);
  }

  commitAll(branch = "main"): string {
    this.run(this.clone, "add", "-A");
    this.run(this.clone, "commit", "-q", "-m", "a change");
    this.run(this.clone, "push", "-q", "origin", `HEAD:refs/heads/${branch}`);
    return this.run(this.clone, "rev-parse", "HEAD");
  }

  run(folder: string, ...args: readonly string[]): string {
    return execFileSync("git", [...args], { cwd: folder, env, encoding: "utf8", stdio: "pipe" }).trim();
  }

  /** Runs git in the bare repository. */
  ask(...args: readonly string[]): string {
    return this.run(this.bare, ...args);
  }

  hook(name: string, script: string): void {
    mkdirSync(join(this.bare, "hooks"), { recursive: true });
    writeFileSync(join(this.bare, "hooks", name), `#!/bin/sh\n${script}\n`);
    chmodSync(join(this.bare, "hooks", name), 0o755);
  }

  /** The guard's mirrors, with `options` appended to the address. */
  mirrors(options = "", more: Partial<GitMirrorsOptions> = {}): GitMirrors {
    const repositories = [parseGitRepository(`${this.url}${options}`)];
    return new GitMirrors({ clock: systemClock, repositories, folder: join(this.root, "guard"), ...more });
  }

  [Symbol.dispose](): void {
    rmSync(this.root, { recursive: true, force: true });
  }
}

const env = {
  PATH: "/usr/local/bin:/usr/bin:/bin",
  HOME: "/nonexistent",
  GIT_CONFIG_NOSYSTEM: "1",
  GIT_AUTHOR_NAME: "A person",
  GIT_AUTHOR_EMAIL: "person@example.org",
  GIT_COMMITTER_NAME: "A person",
  GIT_COMMITTER_EMAIL: "person@example.org",
};
