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
  test("warns above 1,024 KiB and says what to do", () => {
    const at = (kib: number | undefined): string | undefined => readAheadWarning({ kib, path: "/sys/x" });
    expect([at(undefined), at(128), at(1024)]).toEqual([undefined, undefined, undefined]);
    expect(at(8192)).toContain("--read-ahead 128");
  });
});
