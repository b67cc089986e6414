import { expect, test } from "bun:test";
import { metricsPageProblems } from "./metrics-page.ts";
import { shortly } from "../planted.ts";
import { plantedTree } from "../tree.ts";

const head = "| metric | type | labels | meaning |\n| --- | --- | --- | --- |\n";
const code = 'metrics.gauge("levee_size", "Size", read);\nperResource("levee_view_age", "Age", read);\n';

function problems(page: string): readonly string[] {
  const files = { "docs/metrics.md": page, "src/daemon/a.ts": code, "src/daemon/a.test.ts": '"levee_fake"' };
  return metricsPageProblems(plantedTree(files)).map(shortly);
}

test("metricsPageProblems finds none when each metric has its row", () => {
  expect(
    problems(`${head}| \`levee_size\` | gauge | – | Size. |\n| \`levee_view_age\` | gauge | – | Age. |\n`),
  ).toEqual([]);
});

test("metricsPageProblems finds a metric without a row, and a row without a metric", () => {
  expect(problems(`${head}| \`levee_size\` | gauge | – | Size. |\n| \`levee_gone\` | gauge | – | Gone. |\n`)).toEqual([
    "src/daemon/a.ts:2 levee_view_age is not on docs/metrics.md",
    "docs/metrics.md:4 levee_gone is no metric of ours",
  ]);
});

test("metricsPageProblems finds a page without the table", () => {
  expect(problems("# Metrics")).toEqual(["docs/metrics.md:0 the table of metrics is missing"]);
});
