import { expect, test } from "bun:test";
import { firstChars, lastChars } from "./short-text.ts";

test("firstChars and lastChars keep a short text as it is, and cut a long one without half a character", () => {
  expect([firstChars("abc", 3), lastChars("abc", 3)]).toEqual(["abc", "abc"]);
  expect([firstChars("abcdé", 3), lastChars("abcdé", 2)]).toEqual(["abc", "dé"]);
  expect([firstChars("ab😀", 3), lastChars("😀ab", 3)]).toEqual(["ab\uFFFD", "\uFFFDab"]);
});

test("firstChars and lastChars do not hold on to the long text", () => {
  const kept: string[] = [];
  for (let index = 0; index < 200; index += 1) {
    const long = Buffer.alloc(1_048_576, 97 + (index % 26)).toString("latin1");
    kept.push(firstChars(long, 100), lastChars(long, 100));
  }
  Bun.gc(true);
  expect(kept.length).toBe(400);
  // 200 MiB if they did.
  expect(process.memoryUsage().heapUsed).toBeLessThan(100 * 1_048_576);
});
