import { afterEach, beforeEach, expect, test } from "bun:test";
import { spawnSync } from "node:child_process";
import { chmodSync, mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { cannotWrite } from "./output-folder.ts";

let folder = "";

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "levee-output-"));
});

afterEach(() => rmSync(folder, { recursive: true, force: true }));

test("makeOutputFolder refuses a folder of another user", () => {
  const other = join(folder, "other");
  mkdirSync(other, { mode: 0o755 });
  chmodSync(folder, 0o755);
  const script = `import { makeOutputFolder } from "${join(import.meta.dirname, "output-folder.ts")}";
    process.setgid(65_534);
    process.setuid(65_534);
    for (const path of ["${other}", "${join(other, "new")}"])
      try { makeOutputFolder(path); console.log("taken"); } catch (thrown) { console.log(thrown.message); }`;
  // It becomes nobody after its start, as nobody may not read a checkout in the home of root.
  const { stdout } = spawnSync(process.execPath, ["-e", script], { encoding: "utf8" });
  const words = "this user may not write there; choose another folder with --out";
  expect(stdout).toBe(`Cannot write to ${other}: ${words}\nCannot write to ${join(other, "new")}: ${words}\n`);
});

test("cannotWrite keeps the words of an error that it does not know", () => {
  expect(cannotWrite("/x", new Error("the moon is full")).message).toBe(
    "Cannot write to /x: the moon is full; choose another folder with --out",
  );
});
