import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { errnoOf } from "../base/errors.ts";
import { limits } from "./limits.ts";
import { markOf, readSourceFile } from "./source-file.ts";

let folder: string;
let file: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "levee-source-"));
  file = join(folder, "a.yaml");
});

afterEach(() => rmSync(folder, { recursive: true, force: true }));

function readNow(): ReturnType<typeof readSourceFile> {
  return readSourceFile(file, Date.now());
}

async function failure(): Promise<unknown> {
  return readNow().catch((thrown: unknown) => thrown);
}

describe("readSourceFile", () => {
  test("returns bytes, size and digest", async () => {
    writeFileSync(file, "abc");
    const content = await readNow();
    expect(new TextDecoder().decode(content.bytes)).toBe("abc");
    expect(content.mark.sizeBytes).toBe(3);
    expect(content.digest).toBe("ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  });

  test("keeps no more memory than the file has bytes", async () => {
    writeFileSync(file, "abc");
    expect((await readNow()).bytes.buffer.byteLength).toBeLessThanOrEqual(8_192);
  });

  test("reads an empty file and one of exactly the limit", async () => {
    writeFileSync(file, "");
    expect((await readNow()).bytes).toHaveLength(0);
    writeFileSync(file, "x".repeat(limits.fileBytesMax));
    expect((await readNow()).bytes).toHaveLength(limits.fileBytesMax);
  });

  test("refuses one byte more, naming limit and size", async () => {
    writeFileSync(file, "x".repeat(limits.fileBytesMax + 1));
    expect(await failure()).toMatchObject({
      code: "decode-failed",
      message: "Cannot read the file as it may have at most 262144 bytes: current size is 262145",
    });
  });

  test("refuses a file that says it is empty and is endless", async () => {
    file = "/proc/kallsyms";
    expect(await failure()).toMatchObject({ code: "decode-failed", message: expect.stringContaining("may have") });
  });

  test("refuses a pipe at once, a folder, and a device", async () => {
    execFileSync("mkfifo", [file]);
    expect(await failure()).toMatchObject({ message: "Cannot read the file as it must be a regular file" });
    file = "/dev/zero";
    expect(await failure()).toMatchObject({ message: "Cannot read the file as it must be a regular file" });
    file = join(folder, "sub");
    mkdirSync(file);
    expect(await failure()).toBeInstanceOf(Error);
  });

  test("follows no link that has taken the file's place", async () => {
    symlinkSync("/etc/hostname", file);
    expect(errnoOf(await failure())).toBe("ELOOP");
  });

  test("passes on that the file is gone", async () => {
    expect(errnoOf(await failure())).toBe("ENOENT");
  });
});

describe("markOf", () => {
  test("changes with content, size, and the file itself", async () => {
    writeFileSync(file, "abc");
    const first = await markOf(file, Date.now());
    expect(await markOf(file, Date.now())).toEqual(first);
    writeFileSync(file, "abcd");
    const second = await markOf(file, Date.now());
    rmSync(file);
    writeFileSync(join(folder, "other"), "");
    writeFileSync(file, "abcd");
    const third = await markOf(file, Date.now());
    expect(new Set([first.identity, second.identity, third.identity]).size).toBe(3);
  });

  test("is fresh for two seconds, and as long as the clock is behind", async () => {
    writeFileSync(file, "abc");
    expect((await markOf(file, Date.now())).isFresh).toBe(true);
    expect((await markOf(file, 0)).isFresh).toBe(true);
    expect((await markOf(file, Date.now() + 3_000)).isFresh).toBe(false);
  });
});
