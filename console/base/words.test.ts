import { expect, test } from "bun:test";
import { axisTexts, bytesText, countText, plural, spanText, tookText } from "./words.ts";
import { linkTo, parseRoute } from "./route.ts";

test("spanText and tookText name two units at most", () => {
  expect([0, 89_000, 900_000, 12_000_000, 7_200_000, 187_200_000, 1_728_000_000].map(spanText)).toEqual([
    "0 s",
    "89 s",
    "15 min",
    "3 h 20 min",
    "2 h",
    "2 d 4 h",
    "20 d",
  ]);
  expect([0.4, 35, 1_240, 90_000].map(tookText)).toEqual(["0.4 ms", "35 ms", "1.2 s", "2 min"]);
});

test("countText, bytesText and plural", () => {
  expect(countText(1_234_567)).toBe("1\u202f234\u202f567");
  expect([bytesText(2_048), bytesText(50 * 1024 * 1024), bytesText(1.5 * 1024 ** 3)]).toEqual([
    "2 KiB",
    "50 MiB",
    "1.5 GiB",
  ]);
  expect([plural(1, "pod"), plural(2, "entry", "entries")]).toEqual(["1 pod", "2 entries"]);
});

test("parseRoute reads what linkTo writes, and takes every other address for the first view", () => {
  const hostile = `a/b %2F<img onerror="x">\u202e`;
  expect(parseRoute(linkTo("find", "pod", "fc", hostile))).toEqual({ view: "find", names: ["pod", "fc", hostile] });
  expect(parseRoute("#nowhere/x")).toEqual({ view: "now", names: [] });
  expect(parseRoute("#find/match/100%")).toEqual({ view: "find", names: ["match", "100%"] });
});

test("axisTexts has seconds for a short axis and days for a long one", () => {
  const at = new Date(2026, 10, 18, 6, 24, 58).getTime() / 1_000;
  expect(axisTexts([at, at + 5])).toEqual(["06:24:58", "06:25:03"]);
  expect(axisTexts([at, at + 300])).toEqual(["06:24", "06:29"]);
  expect(axisTexts([at, at + 86_400])).toEqual(["11-18", "11-19"]);
  expect(axisTexts([])).toEqual([]);
});
