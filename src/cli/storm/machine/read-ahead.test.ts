import { describe, expect, test } from "bun:test";
import { readAheadOf, readAheadWarning } from "./read-ahead.ts";

describe("readAheadOf", () => {
  test("finds the disk of a folder, also of one that is not there yet", () => {
    expect(readAheadOf("/")).toEqual(readAheadOf("/nowhere/at/all"));
    expect(readAheadOf("/").path).toMatch(/^\/sys\/class\/bdi\/\d+:\d+\/read_ahead_kb$/u);
  });

  test("knows nothing of a file system without a disk", () => {
    expect(readAheadOf("/proc").kib).toBeUndefined();
  });
});

describe("readAheadWarning", () => {
  test("warns above 1,024 KiB, with what was done about it and what is to be done", () => {
    const at = (kib?: number, ownKib?: number): string => readAheadWarning({ kib, path: "/sys/x" }, ownKib) ?? "";
    expect([at(undefined), at(128), at(1024, 128)]).toEqual(["", "", ""]);
    expect(at(8192)).toEndWith("without --read-ahead node it gets its own disk");
    expect(at(8192, 128)).toEndWith("for real pods change it on the node: echo 128 > /sys/x");
  });
});
