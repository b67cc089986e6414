import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { cleanCommit } from "./clean-commit.ts";

let folder = "";

function git(...args: readonly string[]): string {
  const who = ["-c", "user.name=a", "-c", "user.email=a@example.com"];
  const env = { ...process.env, GIT_COMMITTER_DATE: "2026-01-02T03:04:05Z" };
  const { status, stdout, stderr } = spawnSync("git", ["-C", folder, ...who, ...args], { encoding: "utf8", env });
  expect({ status, stderr }).toEqual({ status: 0, stderr: "" });
  return stdout.trim();
}

beforeEach(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), "levee-commit-")));
  git("init", "-q");
  writeFileSync(join(folder, ".gitignore"), "dist/\n");
  writeFileSync(join(folder, "a"), "1");
  git("add", ".");
  git("commit", "-q", "-m", "x");
});

afterEach(() => rmSync(folder, { recursive: true, force: true }));

describe("cleanCommit", () => {
  test("is the last commit with its date; ignored files do not count", () => {
    mkdirSync(join(folder, "dist"));
    writeFileSync(join(folder, "dist/levee"), "built");
    const date = new Date("2026-01-02T03:04:05Z");
    expect(cleanCommit(folder, {})).toEqual({ id: git("rev-parse", "HEAD"), date });
    const epoch = String(date.getTime() / 1_000);
    expect(cleanCommit(folder, { SOURCE_DATE_EPOCH: epoch }).date).toEqual(date);
  });

  test.each([
    ["a changed file", () => writeFileSync(join(folder, "a"), "2"), " M a"],
    ["a deleted file", () => rmSync(join(folder, "a")), " D a"],
    ["a new file", () => writeFileSync(join(folder, "b"), "2"), "?? b"],
  ])("refuses %s, by name and with the remedy", (_what, change, named) => {
    change();
    expect(() => cleanCommit(folder, {})).toThrow("Cannot make a release: these files are not as in the last commit");
    expect(() => cleanCommit(folder, {})).toThrow(`git stash -u:\n  ${named}`);
  });

  test("names a few of many files", () => {
    for (const name of "bcdefgh") writeFileSync(join(folder, name), "");
    expect(() => cleanCommit(folder, {})).toThrow("?? f\n  and 2 more");
  });

  test("refuses another date than the commit's", () => {
    expect(() => cleanCommit(folder, { SOURCE_DATE_EPOCH: "5" })).toThrow(
      "SOURCE_DATE_EPOCH=5: a release has the date of its commit, 1767323045; unset it",
    );
  });

  test("refuses a folder without git, one inside of another checkout, and one without a commit", () => {
    const inner = join(folder, "dist");
    mkdirSync(inner);
    expect(() => cleanCommit(inner, {})).toThrow(`${inner} is no git checkout; it lies in the one of ${folder}`);
    rmSync(join(folder, ".git"), { recursive: true });
    expect(() => cleanCommit(folder, {})).toThrow("not a git repository");
    git("init", "-q");
    expect(() => cleanCommit(folder, {})).toThrow("git log failed");
  });
});
