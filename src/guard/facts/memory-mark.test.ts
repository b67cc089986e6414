import { expect, test } from "bun:test";
import { markKey, parseMark, printMark, standingMark, type MemoryMark } from "./memory-mark.ts";

const mark: MemoryMark = {
  ...{ uid: "u", beforeLimit: "50Mi", beforeRequest: "", limit: "1Gi", request: "" },
  ...{ at: "2026-05-11T10:30:00Z", seen: "" },
};

test("parseMark reads what printMark wrote, and nothing else", () => {
  expect(printMark(mark)).toBe("u 50Mi - 1Gi - 2026-05-11T10:30:00Z -");
  expect(parseMark(printMark(mark))).toEqual(mark);
  for (const text of [
    "",
    "u 50Mi - 1Gi - soon -",
    "u 50Mi - 1Gi -",
    "- 50Mi - 1Gi - 2026-05-11T10:30:00Z -",
    "a  b c d e f",
  ])
    expect([text, parseMark(text)]).toEqual([text, undefined]);
});

test("standingMark counts only on its own object, with the values that it names", () => {
  const annotations = { [markKey("main")]: printMark(mark) };
  const now = { uid: "u", container: "main", limit: "1Gi", request: "" };
  expect(standingMark(annotations, now)).toEqual(mark);
  for (const change of [{ uid: "v" }, { container: "side" }, { limit: "2Gi" }, { request: "1Gi" }])
    expect(standingMark(annotations, { ...now, ...change })).toBeUndefined();
  expect(standingMark(undefined, now)).toBeUndefined();
});
