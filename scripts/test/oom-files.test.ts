import { resolve } from "node:path";
import { expect, test } from "bun:test";
import { oomFiles } from "./oom-files.ts";

const root = resolve(import.meta.dirname, "../..");

test("oomFiles finds those of the whole tree, and those below a path however it is written", () => {
  const all = oomFiles(root);
  expect(all).toContain("./test/shim/memory.oom.test.ts");
  const below = ["./test/shim/memory.oom.test.ts"];
  expect(oomFiles(root, ["test/shim"])).toEqual(below);
  expect(oomFiles(root, ["./test/shim/"])).toEqual(below);
  expect(oomFiles(root, ["./"])).toEqual(all);
  expect(oomFiles(root, ["src/wire"])).toEqual([]);
});

test("oomFiles leaves out a file that is named: it runs by its name", () => {
  expect(oomFiles(root, ["test/shim/memory.oom.test.ts"])).toEqual([]);
});
