import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { failureOf } from "../../failure-of.fixture.ts";
import { fakeShell } from "../../fake-shell.fixture.ts";
import { makeOwnDisk, removeOwnDisk } from "./own-disk.ts";
import { readAheadOf } from "./read-ahead.ts";
import { stormPaths, type StormPaths } from "../site.ts";

let folder: string;
let paths: StormPaths;
const shell = fakeShell();

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "levee-own-disk-"));
  paths = stormPaths(folder);
});

afterEach(async () => {
  await removeOwnDisk(shell, paths);
  rmSync(folder, { recursive: true, force: true });
});

function loopDevices(): string {
  return Bun.spawnSync(["losetup", "--noheadings", "--associated", paths.image]).stdout.toString().trim();
}

describe("makeOwnDisk", () => {
  test("has the read-ahead that is wanted, reads past the page cache, and goes without a trace", async () => {
    const nodeKib = readAheadOf(folder).kib;
    await makeOwnDisk(shell, paths, 64);
    expect(readAheadOf(paths.root).kib).toBe(64);
    expect(readAheadOf(folder).kib).toBe(nodeKib);
    const device = /^\/dev\/(\w+):/u.exec(loopDevices())?.[1] ?? "";
    expect(readFileSync(`/sys/block/${device}/loop/dio`, "utf8").trim()).toBe("1");
    writeFileSync(join(paths.root, "file"), "on the disk");
    expect(await removeOwnDisk(shell, paths)).toBe(true);
    expect({
      file: existsSync(join(paths.root, "file")),
      image: existsSync(paths.image),
      loops: loopDevices(),
    }).toEqual({
      file: false,
      image: false,
      loops: "",
    });
    expect(await removeOwnDisk(shell, paths)).toBe(false);
  });

  test("what was cut short before the mount is removed too", async () => {
    writeFileSync(paths.image, Buffer.alloc(1 << 20));
    Bun.spawnSync(["losetup", "--find", paths.image]);
    expect(loopDevices()).not.toBe("");
    expect(await removeOwnDisk(shell, paths)).toBe(true);
    expect(loopDevices()).toBe("");
  });

  test("says which tool is missing, and the way without", async () => {
    const without = fakeShell({ env: { PATH: "/nowhere" } });
    const failure = await failureOf(makeOwnDisk(without, paths, 128));
    expect(failure).toMatchObject({
      code: "disk-unusable",
      message: "Cannot make the storm's own disk: truncate is not installed",
      remedy: expect.stringContaining("--read-ahead node"),
    });
  });
});
