import { describe, expect, test } from "bun:test";
import { memoryOf, processMemoryText } from "./memory.ts";

describe("memoryOf", () => {
  test("reads a living process", async () => {
    const memory = await memoryOf(process.pid);
    expect(memory?.rssKib).toBeGreaterThan(1000);
    expect(memory?.anonymousKib).toBeLessThanOrEqual(memory?.rssKib ?? 0);
  });

  test("is undefined for one that has ended", async () => {
    expect(await memoryOf(99_999_999)).toBeUndefined();
  });
});

describe("processMemoryText", () => {
  test("is in MiB", () => {
    expect(processMemoryText({ rssKib: 30_000, anonymousKib: 7168 })).toBe("29.3 MiB (7.0 MiB of its own)");
    expect(processMemoryText(undefined)).toBe("unknown");
  });
});
