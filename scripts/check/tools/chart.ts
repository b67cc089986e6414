import { builtHelm } from "../../../test/peers/helm.ts";
import type { Problem, Rule, RuleOutcome } from "../rule.ts";
import { capture } from "./tools.ts";

const chart = "deploy/helm/levee";
const finding = /^\[(?:ERROR|WARNING)\] (.*)$/u;

/** `helm lint` accepts the chart. Only `npm run e2e` builds Helm, so the rule reports when it had to skip. */
export const chartRule: Rule = {
  name: "chart",
  async run(tree): Promise<RuleOutcome> {
    const helm = builtHelm();
    if (helm === undefined) return { problems: [], skipped: "helm is not built, npm run e2e builds it" };
    const { exitCode, output } = await capture(tree.root, helm, ["lint", "--strict", "--quiet", chart]);
    if (exitCode === 0) return { problems: [] };
    const messages = output.split("\n").flatMap((line) => finding.exec(line)?.[1] ?? []);
    return { problems: (messages.length === 0 ? [output.trim()] : messages).map(problem) };
  },
};

function problem(message: string): Problem {
  return { file: chart, line: 0, message, remedy: "Run helm lint --strict by hand, and follow its advice" };
}
