import { describe, expect, test } from "bun:test";
import { failed, passed, warned } from "./check.ts";
import { readyzAnswer } from "./readyz.ts";

const good = passed("view", "3 pods");
const doubtful = warned("hand", "no resident hand", "start one");
const bad = failed("api", "away since\n2026-01-01", "look at it");

describe("readyzAnswer", () => {
  test("says ok when every check holds or only warns", () => {
    expect(readyzAnswer([good, doubtful], { isVerbose: false })).toEqual({ isReady: true, text: "ok" });
  });

  test("lists every check when asked, one line each", () => {
    expect(readyzAnswer([good, doubtful], { isVerbose: true }).text).toBe(
      "[+]view ok\n[!]hand degraded: no resident hand\nreadyz check passed\n",
    );
  });

  test("lists every check when one fails, and the reason stays on its line", () => {
    expect(readyzAnswer([good, bad], { isVerbose: false })).toEqual({
      isReady: false,
      text: "[+]view ok\n[-]api failed: away since 2026-01-01\nreadyz check failed\n",
    });
  });
});
