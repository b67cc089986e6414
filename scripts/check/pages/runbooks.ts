import { basename } from "node:path/posix";
import { alertNames, rulesFile } from "../../deploy/alerts.ts";
import type { Problem } from "../rule.ts";
import type { Tree } from "../tree.ts";

const folder = "docs/runbooks";
const index = `${folder}/README.md`;
/** The sections of a page, in this order. */
const sections = ["## What it means", "## How to see it", "## What to do"];

/** Every alert has its page, every page its alert, and the list of alerts is complete. */
export function runbookProblems(tree: Tree): readonly Problem[] {
  const rules = tree.read(rulesFile);
  if (rules === undefined) return [];
  const alerts = alertNames(rules);
  const pages = tree.files.filter((path) => path.startsWith(`${folder}/`) && path !== index);
  return [
    ...alerts.flatMap((alert) => pageProblems(tree, alert)),
    ...pages
      .filter((path) => !alerts.includes(basename(path, ".md")))
      .map((file) => ({ file, line: 0, message: "there is no such alert", remedy: "Remove the page" })),
  ];
}

function pageProblems(tree: Tree, alert: string): readonly Problem[] {
  const file = `${folder}/${alert}.md`;
  const lines = tree.read(file)?.split("\n");
  if (lines === undefined)
    return [{ file: rulesFile, line: 0, message: `${alert} has no page`, remedy: `Write ${file}` }];
  const problems: Problem[] = [];
  if (lines[0] !== `# ${alert}`)
    problems.push({ file, line: 1, message: "the page is not called as its alert", remedy: `Begin with # ${alert}` });
  const found = lines.filter((line) => line.startsWith("## ")).slice(0, sections.length);
  if (found.join() !== sections.join())
    problems.push({ file, line: 0, message: "a section is missing", remedy: `Write ${sections.join(", ")}` });
  if (!(tree.read(index) ?? "").includes(`](${alert}.md)`))
    problems.push({ file: index, line: 0, message: `${alert} is not on the list`, remedy: "Add its row" });
  return problems;
}
