import { afterEach, beforeEach, expect, test } from "bun:test";
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { sourceDate } from "./source-date.ts";

let folder = "";

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "levee-date-"));
});

afterEach(() => rmSync(folder, { recursive: true, force: true }));

test("sourceDate is SOURCE_DATE_EPOCH when it is set", () => {
  expect(sourceDate(folder, { SOURCE_DATE_EPOCH: "86400" })).toEqual(new Date("1970-01-02T00:00:00Z"));
});

test("sourceDate is the date of the last commit otherwise", () => {
  const env = { ...process.env, GIT_COMMITTER_DATE: "2026-01-02T03:04:05Z" };
  const who = ["-c", "user.name=a", "-c", "user.email=a@example.com"];
  spawnSync("git", ["init", "-q", folder]);
  expect(spawnSync("git", ["-C", folder, ...who, "commit", "-q", "--allow-empty", "-m", "x"], { env }).status).toBe(0);
  expect(sourceDate(folder, {})).toEqual(new Date("2026-01-02T03:04:05Z"));
});

test("sourceDate says what to do without either, and refuses what is no time", () => {
  expect(() => sourceDate(folder, {})).toThrow(/last commit: fatal: not a git repository.*; or set SOURCE_DATE_EPOCH/u);
  expect(() => sourceDate(folder, { SOURCE_DATE_EPOCH: "yesterday" })).toThrow(
    "SOURCE_DATE_EPOCH must be seconds since 1970: current value is yesterday",
  );
});

test("sourceDate says that git is missing", () => {
  const script = `import { sourceDate } from "${join(import.meta.dirname, "source-date.ts")}";
    try { sourceDate("${folder}", {}); } catch (thrown) { console.log(thrown.message); }`;
  const { stdout } = spawnSync(process.execPath, ["-e", script], { env: { PATH: folder }, encoding: "utf8" });
  expect(stdout).toContain('last commit: Executable not found in $PATH: "git"; or set SOURCE_DATE_EPOCH');
});
