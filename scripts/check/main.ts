/** All rules that CI applies to a change: `npm run check`. Exit code 1 if a rule is broken. */
import { resolve } from "node:path";
import { doorwayRule } from "./code/doorways.ts";
import { jsonPrint } from "./code/json-print.ts";
import { oneWord } from "./code/one-word.ts";
import { pageRule } from "./code/page.ts";
import { rings } from "./code/rings.ts";
import { walk } from "./code/walk.ts";
import { cleanText } from "./files/clean-text.ts";
import { daemonEnvRule } from "./files/daemon-env.ts";
import { deployRule } from "./files/deploy.ts";
import { fileNames } from "./files/file-names.ts";
import { rooms } from "./files/rooms.ts";
import { versions } from "./files/versions.ts";
import { benchResults } from "./pages/bench-results.ts";
import { docsInStep } from "./pages/docs-in-step.ts";
import { pageForm } from "./pages/page-form.ts";
import type { Problem, Rule, RuleOutcome } from "./rule.ts";
import { chartRule } from "./tools/chart.ts";
import { shimRule } from "./tools/shim.ts";
import { toolRules } from "./tools/tools.ts";
import { repositoryTree } from "./tree.ts";

const rules: readonly Rule[] = [
  ...toolRules,
  rings,
  doorwayRule,
  jsonPrint,
  oneWord,
  pageRule,
  walk,
  rooms,
  fileNames,
  pageForm,
  docsInStep,
  benchResults,
  deployRule,
  chartRule,
  daemonEnvRule,
  versions,
  cleanText,
  shimRule,
];

const wanted = new Set(process.argv.slice(2));
const chosen = rules.filter((rule) => wanted.size === 0 || wanted.has(rule.name));
const unknown = [...wanted].filter((name) => !rules.some((rule) => rule.name === name));
if (unknown.length > 0) {
  console.error(`No such rule: ${unknown.join(", ")}. There are ${rules.map((rule) => rule.name).join(", ")}`);
  process.exit(2);
}

const tree = repositoryTree(resolve(import.meta.dirname, "../.."));
let problemCount = 0;
let brokenCount = 0;
for (const rule of chosen) {
  const startedMs = performance.now();
  const outcome = await runSafely(rule);
  const tookMs = Math.round(performance.now() - startedMs);
  const skipped = outcome.skipped === undefined ? "" : ` (skipped: ${outcome.skipped})`;
  console.log(
    `${outcome.problems.length === 0 ? "✓" : "✗"} ${rule.name.padEnd(14)}${`${tookMs} ms`.padStart(8)}${skipped}`,
  );
  for (const [index, problem] of outcome.problems.entries()) {
    const isLastOfItsKind = outcome.problems[index + 1]?.remedy !== problem.remedy;
    console.log(describe(problem) + (isLastOfItsKind ? `\n      → ${problem.remedy}` : ""));
  }
  problemCount += outcome.problems.length;
  if (outcome.problems.length > 0) brokenCount += 1;
}
console.log(
  brokenCount === 0
    ? `\nAll ${chosen.length} rules hold.`
    : `\n${brokenCount} of ${chosen.length} rules broken, ${problemCount} problems.`,
);
process.exitCode = brokenCount === 0 ? 0 : 1;

/** A rule that throws counts as broken. The other rules still run. */
async function runSafely(rule: Rule): Promise<RuleOutcome> {
  try {
    return await rule.run(tree);
  } catch (thrown) {
    const message = thrown instanceof Error ? (thrown.stack ?? thrown.message) : String(thrown);
    return { problems: [{ file: "scripts/check", line: 0, message, remedy: "Repair the rule" }] };
  }
}

function describe(problem: Problem): string {
  const where = problem.line === 0 ? problem.file : `${problem.file}:${problem.line}`;
  return `    ${where}  ${problem.message}`;
}
