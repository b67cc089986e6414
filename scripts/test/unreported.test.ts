import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "bun:test";
import { unreportedFiles, unreportedGroups } from "./unreported.ts";

let root: string;

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), "levee-unreported-"));
  mkdirSync(join(root, "src/deep"), { recursive: true });
  for (const file of ["src/a.test.ts", "src/deep/b.test.ts", "src/b.ts"]) writeFileSync(join(root, file), "");
});

afterEach(() => rmSync(root, { recursive: true }));

const report = '<testsuite name="src/a.test.ts" file="src/a.test.ts" tests="1"><testsuite name="basic" file="x">';

test("unreportedFiles names the files that a report lacks, of folders and of single files", () => {
  const deep = { file: "src/deep/b.test.ts", group: "", name: "could not be loaded" };
  expect(unreportedFiles(root, ["./src/"], report)).toEqual([deep]);
  expect(unreportedFiles(root, ["./src/a.test.ts", "./src/deep/b.test.ts"], report)).toEqual([deep]);
  expect(unreportedFiles(root, ["part-of-a-name"], report)).toEqual([]);
});

test("unreportedGroups names the groups that a report lacks", () => {
  expect(unreportedGroups("suite.ts", ["basic", "basic-2"], report)).toEqual([
    { file: "suite.ts", group: "basic-2", name: "could not be loaded" },
  ]);
});

test("nothing is unreported by a run that left no report", () => {
  expect(unreportedFiles(root, ["./src/"], "")).toEqual([]);
  expect(unreportedGroups("suite.ts", ["basic"], "")).toEqual([]);
});
