import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { copyPackages } from "../image/verify-images.ts";
import type { Commit } from "./clean-commit.ts";

export interface Compared {
  /** The checkout that the release was made in. */
  readonly root: string;
  readonly commit: Commit;
  readonly url: string;
  readonly outDir: string;
}

/** Makes the release again from nothing, in a new clone of the commit, and compares every file. Throws on a difference. */
export function verifyRelease({ root, commit, url, outDir }: Compared): void {
  const folder = mkdtempSync(join(tmpdir(), "levee-verify-release-"));
  try {
    const clone = join(folder, "a-clone-of-the-same-commit");
    console.log(`verify: making the release again in ${clone}`);
    run("git", ["clone", "--quiet", "--shared", "--no-checkout", root, clone], folder);
    run("git", ["checkout", "--quiet", "--detach", commit.id], clone);
    copyPackages(clone);
    const again = join(folder, "again");
    run(process.execPath, ["scripts/release.ts", "--url", url, "--out", again], clone);
    const problems = differences(sumsOf(outDir), sumsOf(again));
    if (problems.length > 0)
      throw new Error(`The release is not reproducible. Two builds differ in:\n  ${problems.join("\n  ")}`);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
  console.log("verify: two releases of the commit are the same, byte for byte");
}

/** The files that two releases do not have alike, from the text of their SHA256SUMS. */
export function differences(first: string, second: string): readonly string[] {
  const [left, right] = [byPath(first), byPath(second)];
  return [...new Set([...left.keys(), ...right.keys()])].filter((path) => left.get(path) !== right.get(path));
}

function byPath(sums: string): ReadonlyMap<string, string> {
  const lines = sums.split("\n").filter((line) => line !== "");
  return new Map(lines.map((line) => [line.slice(66), line.slice(0, 64)]));
}

function sumsOf(folder: string): string {
  return readFileSync(join(folder, "SHA256SUMS"), "utf8");
}

/** In another time zone and another language, which must not show. */
function run(program: string, args: readonly string[], cwd: string): void {
  const env = { ...process.env, TZ: "Asia/Kathmandu", LC_ALL: "C" };
  const { status, error } = spawnSync(program, args, { cwd, env, stdio: ["ignore", "inherit", "inherit"] });
  if (status !== 0)
    throw new Error(`Cannot verify the release: ${program} ${args[0] ?? ""} ended with ${error?.message ?? status}`);
}
