import { expect, test } from "bun:test";
import { dependencyProblems } from "./dependencies-page.ts";
import { shortly } from "../planted.ts";
import { plantedTree } from "../tree.ts";

const head = "| package | version | where | why |\n| --- | --- | --- | --- |\n";

function problems(manifest: unknown, rows: string): readonly string[] {
  const texts = { "package.json": JSON.stringify(manifest), "docs/dependencies.md": head + rows };
  return dependencyProblems(plantedTree(texts)).map(shortly);
}

test("dependencyProblems accepts a page in step with package.json", () => {
  const manifest = { dependencies: { yaml: "2.9.1" }, devDependencies: { "@types/bun": "1.4.4" } };
  expect(problems(manifest, "| `yaml` | 2.9.1 | a | b |\n| `@types/bun` | 1.4.4 | a | b |\n")).toEqual([]);
});

test("dependencyProblems finds a package without a row and a row without a package", () => {
  expect(problems({ dependencies: { yaml: "2.9.1" } }, "| `zod` | 1.0.0 | a | b |\n")).toEqual([
    "docs/dependencies.md:0 yaml has no row",
    "docs/dependencies.md:3 zod is not in package.json",
  ]);
});

test("dependencyProblems finds a range, another version and a missing reason", () => {
  expect(problems({ dependencies: { yaml: "^2.9.1" } }, "| `yaml` | 2.9.0 | a | |\n")).toEqual([
    "package.json:0 yaml is not pinned: ^2.9.1",
    "docs/dependencies.md:3 yaml is ^2.9.1 in package.json",
    "docs/dependencies.md:3 yaml has no reason",
  ]);
});

test("dependencyProblems finds a page without the table", () => {
  expect(dependencyProblems(plantedTree({ "package.json": "{}" })).map(shortly)).toEqual([
    "docs/dependencies.md:0 the table of dependencies is missing",
  ]);
});
