import { expect, test } from "bun:test";
import { linkProblems } from "./links.ts";
import { shortly } from "../planted.ts";
import { plantedTree } from "../tree.ts";

function problems(texts: Readonly<Record<string, string>>): readonly string[] {
  return linkProblems(plantedTree(texts)).map(shortly);
}

test("linkProblems accepts files, folders, anchors and the outside world", () => {
  const texts = {
    "README.md": "[a](docs/a.md#the-walk-of-one-add) [b](docs/) [c](#top) [d](https://example.com)\n# Top",
    "docs/a.md": "## The walk of one `ADD`\n[up](../README.md)",
  };
  expect(problems(texts)).toEqual([]);
});

test("linkProblems finds a link to nothing, a picture too", () => {
  const texts = { "docs/a.md": 'see\n[b](b.md) ![c](c.svg)\n<img src="d.svg">' };
  expect(problems(texts)).toEqual([
    "docs/a.md:2 the link b.md leads nowhere",
    "docs/a.md:2 the link c.svg leads nowhere",
    "docs/a.md:3 the link d.svg leads nowhere",
  ]);
});

test("linkProblems finds an anchor without its heading", () => {
  expect(problems({ "a.md": "# One\n[x](#two)" })).toEqual(["a.md:2 a.md has no heading for #two"]);
});

test("linkProblems leaves code alone", () => {
  expect(problems({ "a.md": "```\n[x](y.md)\n```\n`[x](y.md)`" })).toEqual([]);
});

test("linkProblems finds a source file that is named but not there", () => {
  const texts = {
    "a.md": "`src/base/clock.ts`, `clock.ts`, `x.test.ts`\n`src/base/gone.ts` and `old.rs`",
    "src/base/clock.ts": "",
  };
  expect(problems(texts)).toEqual(["a.md:2 there is no file src/base/gone.ts", "a.md:2 there is no file old.rs"]);
});
