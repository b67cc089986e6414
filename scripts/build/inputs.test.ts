import { afterEach, beforeEach, expect, test } from "bun:test";
import { mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { inputsHash } from "./inputs.ts";

let root = "";

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), "levee-inputs-"));
  mkdirSync(join(root, "src/deep"), { recursive: true });
  writeFileSync(join(root, "src/deep/a.ts"), "a");
});

afterEach(() => rmSync(root, { recursive: true, force: true }));

test("inputsHash stays the same while nothing changes", () => {
  expect(inputsHash(root, ["src"], "bun 1")).toBe(inputsHash(root, ["src"], "bun 1"));
});

test("inputsHash changes with content, name and tool", () => {
  const before = inputsHash(root, ["src"], "bun 1");
  expect(inputsHash(root, ["src"], "bun 2")).not.toBe(before);
  renameSync(join(root, "src/deep/a.ts"), join(root, "src/deep/b.ts"));
  expect(inputsHash(root, ["src"], "bun 1")).not.toBe(before);
  renameSync(join(root, "src/deep/b.ts"), join(root, "src/deep/a.ts"));
  writeFileSync(join(root, "src/deep/a.ts"), "b");
  expect(inputsHash(root, ["src"], "bun 1")).not.toBe(before);
});

test("inputsHash ignores tests and inputs that are not there", () => {
  const before = inputsHash(root, ["src"], "bun 1");
  writeFileSync(join(root, "src/deep/a.test.ts"), "test");
  expect(inputsHash(root, ["src", "missing"], "bun 1")).toBe(before);
});

test("inputsHash tells content that moved from one file to the next", () => {
  writeFileSync(join(root, "src/b"), "xy");
  writeFileSync(join(root, "src/c"), "z");
  const before = inputsHash(root, ["src"], "");
  writeFileSync(join(root, "src/b"), "x");
  writeFileSync(join(root, "src/c"), "yz");
  expect(inputsHash(root, ["src"], "")).not.toBe(before);
});
