import { expect } from "bun:test";
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";

const root = resolve(import.meta.dirname, "../..");

/** A bug as a patch: this text of a file, which is there once, becomes another one. */
export interface Patch {
  readonly file: string;
  readonly from: string;
  readonly to: string;
}

/** A copy of the tree, into which bugs can be planted. */
export class PlantedTree implements Disposable {
  readonly folder = mkdtempSync(join(tmpdir(), "levee-planted-"));

  constructor(...names: readonly string[]) {
    for (const name of names) cpSync(join(root, name), join(this.folder, name), { recursive: true });
    symlinkSync(join(root, "node_modules"), join(this.folder, "node_modules"));
  }

  /** Puts the bug into the copy for the time of `run`. */
  withBug<T>({ file, from, to }: Patch, run: () => T): T {
    const path = join(this.folder, file);
    const whole = readFileSync(path, "utf8");
    expect(whole.split(from)).toHaveLength(2);
    writeFileSync(
      path,
      whole.replace(from, () => to),
    );
    try {
      return run();
    } finally {
      writeFileSync(path, whole);
    }
  }

  /** Runs a program of the copy. */
  bun(...args: readonly string[]): { readonly exitCode: number; readonly output: string } {
    const { exitCode, stdout, stderr } = Bun.spawnSync([process.execPath, ...args], { cwd: this.folder });
    // Without a word the program did not run at all.
    return { exitCode, output: stdout.toString() || stderr.toString() };
  }

  [Symbol.dispose](): void {
    rmSync(this.folder, { recursive: true });
  }
}
