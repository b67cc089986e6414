import { existsSync } from "node:fs";
import { join, resolve } from "node:path";
import { expect, test } from "bun:test";
import { filesToRunAgain } from "./second-look.ts";

const root = resolve(import.meta.dirname, "../..");
const seeds = ["test/sim/seeds.test.ts", "test/sim/planted.test.ts"];

test("filesToRunAgain has a few failed files, and none when many failed", () => {
  expect(filesToRunAgain(["test/a.test.ts", "test/b.test.ts"])).toEqual(["test/a.test.ts", "test/b.test.ts"]);
  expect(filesToRunAgain(["a", "b", "c", "d"])).toEqual([]);
});

test.each(seeds)("filesToRunAgain forgives no failure of %s, whose seeds have one run each", (file) => {
  expect(existsSync(join(root, file))).toBe(true);
  expect(filesToRunAgain([file])).toEqual([]);
  expect(filesToRunAgain(["test/a.test.ts", file])).toEqual([]);
});
