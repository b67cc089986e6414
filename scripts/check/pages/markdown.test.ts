import { expect, test } from "bun:test";
import { anchorsOf, linksOf, plain, tableRows } from "./markdown.ts";

const page = "# T\n| a | b |\n| --- | --- |\n| `x` | one \\| two |\n| y | |\n\n| c |\n| --- |\n| z |\n";

test("tableRows finds a table by its first columns, with lines and escaped bars", () => {
  expect(tableRows(page, ["a", "b"])).toEqual([
    { line: 4, cells: ["`x`", "one \\| two"] },
    { line: 5, cells: ["y", ""] },
  ]);
  expect(tableRows(page, ["c"])).toEqual([{ line: 9, cells: ["z"] }]);
});

test("tableRows is undefined without such a table", () => {
  expect(tableRows(page, ["d"])).toBeUndefined();
});

test("plain takes the backticks off a whole cell only", () => {
  expect(["`x`", "a `b` c", undefined].map(plain)).toEqual(["x", "a `b` c", ""]);
});

test("linksOf finds links and pictures with their lines", () => {
  expect(linksOf('[a](b.md "title")\n<img src="c.svg">')).toEqual([
    { line: 1, target: "b.md" },
    { line: 2, target: "c.svg" },
  ]);
});

test("anchorsOf makes anchors as GitHub does", () => {
  expect([...anchorsOf("# The walk of one `ADD`\n## What, why?\n### Über uns")]).toEqual([
    "the-walk-of-one-add",
    "what-why",
    "über-uns",
  ]);
});
