import { afterEach, beforeEach, expect, test } from "bun:test";
import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { thisMachine } from "../prerequisites.ts";
import { isTestFile, plantedTree, productFiles, repositoryTree } from "./tree.ts";

let root = "";

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), "levee-tree-"));
  mkdirSync(join(root, "src"));
  mkdirSync(join(root, "dist"));
  writeFileSync(join(root, ".gitignore"), "dist/\n*.tmp\n");
  writeFileSync(join(root, "src/a.ts"), "a");
  writeFileSync(join(root, "src/b.tmp"), "b");
  writeFileSync(join(root, "dist/levee"), "program");
});

afterEach(() => rmSync(root, { recursive: true, force: true }));

// A machine with an unpacked archive may have no git. The rules then list the files by hand, which is tested below.
const hasGit = thisMachine().hasProgram("git");

test.if(hasGit)("repositoryTree lists what is committed or would be, and nothing that is ignored or gone", () => {
  execFileSync("git", ["init", "-q"], { cwd: root });
  writeFileSync(join(root, "src/gone.ts"), "");
  execFileSync("git", ["add", "-A"], { cwd: root });
  rmSync(join(root, "src/gone.ts"));
  writeFileSync(join(root, "src/new.ts"), "new");
  expect(repositoryTree(root).files).toEqual([".gitignore", "src/a.ts", "src/new.ts"]);
});

test("repositoryTree works without a repository", () => {
  expect(repositoryTree(root).files).toEqual([".gitignore", "src/a.ts"]);
});

test("repositoryTree reads its files and no others", () => {
  const tree = repositoryTree(root);
  expect(tree.read("src/a.ts")).toBe("a");
  expect(tree.read("dist/levee")).toBeUndefined();
  expect(tree.read("src/missing.ts")).toBeUndefined();
});

test("productFiles leaves out tests, fixtures and what is not TypeScript of src", () => {
  const texts = {
    "src/a.ts": "",
    "src/a.test.ts": "",
    "src/a.fixture.ts": "",
    "src/a.json": "",
    "scripts/b.ts": "",
    "test/c.ts": "",
  };
  expect(productFiles(plantedTree(texts))).toEqual(["src/a.ts"]);
});

test("isTestFile knows tests by name and by folder", () => {
  expect(["src/a.test.ts", "src/a.fixture.ts", "test/lab/lab.ts"].every(isTestFile)).toBe(true);
  expect(isTestFile("src/latest.ts")).toBe(false);
});
