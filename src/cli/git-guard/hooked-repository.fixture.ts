import { spawnSync } from "node:child_process";
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";

const main = resolve(import.meta.dirname, "../../main.ts");

interface CommandRun {
  readonly status: number | null;
  readonly text: string;
}

/** A real repository with a real server. Their hooks run the real command. */
export class HookedRepository implements Disposable {
  readonly root = mkdtempSync(join(tmpdir(), "levee-git-guard-"));
  readonly bare = join(this.root, "server.git");
  readonly folder = join(this.root, "work");

  constructor() {
    this.must(this.root, "git", "init", "-q", "--bare", "-b", "main", this.bare);
    this.must(this.root, "git", "init", "-q", "-b", "main", this.folder);
    this.must(this.folder, "git", "remote", "add", "origin", this.bare);
  }

  hookClient(name: string): void {
    this.#hook(join(this.folder, ".git"), name);
  }

  hookServer(): void {
    this.#hook(this.bare, "pre-receive");
  }

  /** Writes `count` files in folders of ten, each with its own content. */
  write(count: number, from = 0): void {
    for (let index = from; index < from + count; index += 1)
      this.file(`apps/${Math.floor(index / 10)}/file-${index}.yaml`, `content of ${index}\nline\nline\nline\n`);
  }

  file(path: string, content: string): void {
    mkdirSync(dirname(join(this.folder, path)), { recursive: true });
    writeFileSync(join(this.folder, path), content);
  }

  remove(count: number, from = 0): void {
    for (let index = from; index < from + count; index += 1)
      rmSync(join(this.folder, `apps/${Math.floor(index / 10)}/file-${index}.yaml`));
  }

  /** Commits everything; the message may have several paragraphs. */
  commit(...paragraphs: readonly string[]): CommandRun {
    this.must(this.folder, "git", "add", "-A");
    const messages = (paragraphs.length === 0 ? ["a change"] : paragraphs).flatMap((text) => ["-m", text]);
    return this.git("commit", "-q", ...messages);
  }

  push(...refs: readonly string[]): CommandRun {
    return this.git("push", "-q", "origin", ...refs);
  }

  git(...args: readonly string[]): CommandRun {
    return this.run(this.folder, "git", ...args);
  }

  run(folder: string, program: string, ...args: readonly string[]): CommandRun {
    return this.runWith({}, folder, program, ...args);
  }

  runWith(extra: Record<string, string>, folder: string, program: string, ...args: readonly string[]): CommandRun {
    const ran = spawnSync(program, [...args], { cwd: folder, env: { ...env, ...extra }, encoding: "utf8" });
    return { status: ran.status, text: `${ran.stdout}${ran.stderr}` };
  }

  /** The command itself, as CI calls it. */
  guard(...args: readonly string[]): CommandRun {
    return this.run(this.folder, process.execPath, main, "git-guard", ...args);
  }

  must(folder: string, program: string, ...args: readonly string[]): string {
    const { status, text } = this.run(folder, program, ...args);
    if (status !== 0) throw new Error(`${program} ${args.join(" ")}: ${text}`);
    return text.trim();
  }

  #hook(folder: string, name: string): void {
    mkdirSync(join(folder, "hooks"), { recursive: true });
    const path = join(folder, "hooks", name);
    writeFileSync(path, `#!/bin/sh\nexec "${process.execPath}" "${main}" git-guard ${name} "$@"\n`);
    chmodSync(path, 0o755);
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
