import { expect, test } from "bun:test";
import { problemsIn } from "../planted.ts";
import { pageForm } from "./page-form.ts";

test.each([
  ["a page without its heading", "Text.\n", "docs/a.md:1 MD041"],
  ["a second heading of the page", "# One\n\n# Two\n", "docs/a.md:3 MD025"],
  ["a heading that skips a level", "# One\n\n### Three\n", "docs/a.md:3 MD001"],
  ["a row with a cell too few", "# One\n\n| a | b |\n| --- | --- |\n| c |\n", "docs/a.md:5 MD056"],
  ["a link to a heading that is not there", "# One\n\n[a link](#two)\n", "docs/a.md:3 MD051"],
  ["a fence without its language", "# One\n\n```\ncode\n```\n", "docs/a.md:3 MD040"],
  ["HTML", "# One\n\n<b>bold</b>\n", "docs/a.md:3 MD033"],
])("page-form finds %s", async (_what, text, found) => {
  expect((await problemsIn(pageForm, { "docs/a.md": text })).join("\n")).toStartWith(found);
});

test("page-form accepts long lines, a picture for the dark, and parts of the bench's page", async () => {
  const picture = '<picture><source srcset="dark.svg"><img src="light.svg" alt="a plot"></picture>';
  const texts = {
    "README.md": `# One\n\n${"long ".repeat(60)}line\n\n${picture}\n`,
    "bench/results/storm.md": "### Part\n- a\n",
  };
  expect(await problemsIn(pageForm, texts)).toEqual([]);
});
