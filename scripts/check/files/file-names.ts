import { basename } from "node:path/posix";
import { fileRule, type Problem } from "../rule.ts";

const kebab = /^\.?[a-z0-9]+(?:-[a-z0-9]+)*(?:\.[a-z0-9-]+)*$/;
/** Rust's own rule is snake_case for modules. */
const snake = /^[a-z0-9]+(?:_[a-z0-9]+)*\.rs$/;
/** Names that other tools expect: capitals, or kubectl's name for a plugin's completion. */
const wellKnown =
  /^(?:[A-Z]+\.md|LICENSE|NOTICE|NOTES\.txt|Cargo\.(?:toml|lock)|Chart\.yaml|Makefile|kubectl_complete-levee)$/;
/** A runbook page has the name of its alert, so that the alert's link needs no table. */
const runbook = /^docs\/runbooks\/[A-Z][A-Za-z]+\.md$/;
/** Files with these names attract unrelated code. */
const magnet = /(?:^|[-_.])(?:utils?|helpers?|common|misc|managers?)(?:[-_.]|$)/;

export const fileNames = fileRule("file-names", (tree) => tree.files.flatMap(nameProblems));

function nameProblems(path: string): readonly Problem[] {
  const parts = path.split("/");
  const name = basename(path);
  const folders = parts.slice(0, -1);
  const problems: Problem[] = [];
  const isWellFormed = kebab.test(name) || wellKnown.test(name) || snake.test(name) || runbook.test(path);
  if (!isWellFormed || !folders.every((folder) => kebab.test(folder))) {
    problems.push(problem(path, "the name is not kebab-case", "Use lower case and hyphens"));
  }
  if (parts.some((part) => magnet.test(part))) {
    problems.push(problem(path, "the name says nothing about the content", "Name the file after its main export"));
  }
  return problems;
}

function problem(file: string, message: string, remedy: string): Problem {
  return { file, line: 0, message, remedy };
}
