import type { Problem, Rule } from "./rule.ts";
import { plantedTree } from "./tree.ts";

/** Runs a rule over files made by hand and returns `file:line message` of each problem, for the tests of the rules. */
export async function problemsIn(rule: Rule, texts: Readonly<Record<string, string>>): Promise<readonly string[]> {
  const { problems } = await rule.run(plantedTree(texts));
  return problems.map(shortly);
}

export function shortly(problem: Problem): string {
  return `${problem.file}:${problem.line} ${problem.message}`;
}
