import { afterEach, beforeEach, expect, test } from "bun:test";
import { spawnSync } from "node:child_process";
import { appendFileSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { readRegularFile } from "./regular-file.ts";

let folder: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "levee-file-"));
});

afterEach(() => rmSync(folder, { recursive: true }));

const options = { bytesMax: 10, followLinks: false };

test("readRegularFile reads a file up to its limit", async () => {
  for (const text of ["", "a", "0123456789"]) {
    writeFileSync(join(folder, "file"), text);
    expect((await readRegularFile(join(folder, "file"), options)).toString()).toBe(text);
  }
});

test("readRegularFile refuses a file over its limit, with both numbers", async () => {
  writeFileSync(join(folder, "file"), "0123456789");
  appendFileSync(join(folder, "file"), "x");
  const reading = readRegularFile(join(folder, "file"), options);
  expect(reading).rejects.toThrow("may have at most 10 bytes: it has 11 or more");
});

test("readRegularFile refuses pipes, folders and devices at once", async () => {
  spawnSync("mkfifo", [join(folder, "pipe")]);
  mkdirSync(join(folder, "folder"));
  for (const path of [join(folder, "pipe"), join(folder, "folder"), "/dev/zero"]) {
    expect(readRegularFile(path, options)).rejects.toThrow("must be a regular file");
  }
});

test("readRegularFile follows a link only when it may, and then not to a device", async () => {
  writeFileSync(join(folder, "file"), "text");
  symlinkSync("file", join(folder, "link"));
  symlinkSync("/dev/zero", join(folder, "zero"));
  expect((await readRegularFile(join(folder, "link"), { bytesMax: 10, followLinks: true })).toString()).toBe("text");
  expect(readRegularFile(join(folder, "link"), options)).rejects.toMatchObject({ code: "ELOOP" });
  expect(readRegularFile(join(folder, "zero"), { bytesMax: 10, followLinks: true })).rejects.toThrow("regular file");
});

test("readRegularFile passes on what the system says about a missing file", async () => {
  expect(readRegularFile(join(folder, "nothing"), options)).rejects.toMatchObject({ code: "ENOENT" });
});
