import { expect, test } from "bun:test";
import { runbookProblems } from "./runbooks.ts";
import { plantedTree } from "../tree.ts";

const rules = "groups: [{name: g, rules: [{record: a:b, expr: x}, {alert: One, expr: x}, {alert: Two, expr: x}]}]\n";
const page = (name: string): string => `# ${name}\n\n## What it means\n\n## How to see it\n\n## What to do\n`;

test("runbookProblems finds alerts without a page and pages without an alert", () => {
  const files = {
    "deploy/alerts/levee.rules.yaml": rules,
    "docs/runbooks/README.md": "[One](One.md) [Two](Two.md)",
    "docs/runbooks/One.md": page("One"),
    "docs/runbooks/Two.md": page("Two"),
  };
  const problems = (changes: Readonly<Record<string, string | undefined>>): readonly string[] => {
    const all = Object.entries({ ...files, ...changes }).filter(
      (entry): entry is [string, string] => entry[1] !== undefined,
    );
    return runbookProblems(plantedTree(Object.fromEntries(all))).map(({ file, message }) => `${file} ${message}`);
  };
  expect(problems({})).toEqual([]);
  expect(problems({ "docs/runbooks/One.md": undefined })).toEqual(["deploy/alerts/levee.rules.yaml One has no page"]);
  expect(problems({ "docs/runbooks/Three.md": page("Three") })).toEqual([
    "docs/runbooks/Three.md there is no such alert",
  ]);
  expect(problems({ "docs/runbooks/README.md": "[One](One.md)" })).toEqual([
    "docs/runbooks/README.md Two is not on the list",
  ]);
  expect(problems({ "docs/runbooks/One.md": page("Uno") })).toEqual([
    "docs/runbooks/One.md the page is not called as its alert",
  ]);
  expect(problems({ "docs/runbooks/One.md": "# One\n\n## What it means\n" })).toEqual([
    "docs/runbooks/One.md a section is missing",
  ]);
});
