import { describe, expect, test } from "bun:test";
import { LeveeError } from "../base/errors.ts";
import { ConfigError, lineAndColumn, shorten } from "./problem.ts";

describe("ConfigError", () => {
  const problems = [
    { key: "a", seen: "1", remedy: "set 2" },
    { key: "b", seen: '"x"', remedy: "set true or false" },
  ];

  test("lists every problem in its message and keeps them as they are", () => {
    const error = new ConfigError("setting-invalid", "the file", problems);
    expect(error.message).toBe('Cannot use the file: a is 1, set 2; b is "x", set true or false');
    expect(error.problems).toEqual(problems);
  });

  test("has a page with a line for each problem, and the code in the first line", () => {
    const error = new ConfigError("setting-invalid", "the file", problems);
    expect(error.page).toBe('Cannot use the file (setting-invalid)\n  a is 1, set 2\n  b is "x", set true or false');
  });

  test("is an error of the catalogue, with its number", () => {
    const error = new ConfigError("config-invalid", "the conf", problems);
    expect(error).toBeInstanceOf(LeveeError);
    expect(error.cniCode).toBe(7);
  });
});

describe("shorten", () => {
  test.each([
    ["short", "short"],
    [" a \n\t b ", "a b"],
    ["x".repeat(60), "x".repeat(60)],
    ["x".repeat(61), `${"x".repeat(60)}…`],
  ])("makes of %j one short line", (text, shown) => expect(shorten(text)).toBe(shown));
});

test.each([
  ["", 0, 1, 1],
  ["abc", 2, 1, 3],
  ["a\nbc", 3, 2, 2],
  ["a\n\n\nb", 4, 4, 1],
  ["a\r\nb", 3, 2, 1],
  ["a\rb", 2, 2, 1],
  ["😀x", 2, 1, 2],
  ["ab", 99, 1, 3],
])("lineAndColumn of %j at %i is line %i, column %i", (text, offset, line, column) => {
  expect(lineAndColumn(text, offset)).toEqual({ line, column });
});
