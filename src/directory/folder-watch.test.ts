import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { systemClock } from "../base/clock.ts";
import { FolderWatch } from "./folder-watch.ts";

let parent: string;
let changes: number;
let failures: string[];
let watch: FolderWatch;

beforeEach(() => {
  parent = mkdtempSync(join(tmpdir(), "levee-watch-"));
  for (const name of ["a", "b"]) mkdirSync(join(parent, name));
  changes = 0;
  failures = [];
  watch = new FolderWatch(
    () => (changes += 1),
    (folder) => failures.push(folder),
  );
});

afterEach(() => {
  watch.close();
  rmSync(parent, { recursive: true, force: true });
});

async function touched(file: string): Promise<boolean> {
  await systemClock.sleep(30);
  const before = changes;
  writeFileSync(join(parent, file), "x");
  for (let tries = 0; tries < 30 && changes === before; tries += 1) await systemClock.sleep(10);
  return changes > before;
}

describe("FolderWatch", () => {
  test("tells of changes in each folder it was given, and in no other", async () => {
    watch.add(join(parent, "a"), "1");
    expect(await touched("a/x")).toBe(true);
    expect(await touched("b/x")).toBe(false);
    watch.add(join(parent, "b"), "2");
    expect(await touched("b/y")).toBe(true);
  });

  test("keeps one watch per folder, and a new one when the folder is another", async () => {
    const folder = join(parent, "a");
    watch.add(folder, "1");
    watch.add(folder, "1");
    expect(watch.folders).toEqual([folder]);
    rmSync(folder, { recursive: true });
    mkdirSync(folder);
    watch.add(folder, "2");
    expect(watch.folders).toEqual([folder]);
    expect(await touched("a/x")).toBe(true);
  });

  test("ends the watches of folders that are not kept", async () => {
    watch.add(join(parent, "a"), "1");
    watch.add(join(parent, "b"), "2");
    watch.keepOnly(new Set([join(parent, "b")]));
    expect(watch.folders).toEqual([join(parent, "b")]);
    expect(await touched("a/x")).toBe(false);
    expect(await touched("b/x")).toBe(true);
  });

  test("reports a folder that cannot be watched and goes on", async () => {
    watch.add(join(parent, "absent"), "1");
    expect(failures).toEqual([join(parent, "absent")]);
    watch.add(join(parent, "a"), "1");
    expect(await touched("a/x")).toBe(true);
  });

  test("is silent once it is closed, and takes no more folders", async () => {
    watch.add(join(parent, "a"), "1");
    watch.close();
    watch.add(join(parent, "b"), "2");
    expect(watch.folders).toEqual([]);
    expect(await touched("a/x")).toBe(false);
    expect(await touched("b/x")).toBe(false);
  });
});
