import { expect, test } from "bun:test";
import { lineAndColumn } from "./position.ts";

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
