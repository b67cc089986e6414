import type { Decision } from "../decision/decision.ts";
import type { LockToGitStep } from "../decision/step.ts";
import { foreignText } from "../detect/foreign-text.ts";

const lineCharsMax = 300;
/** Enough to understand the reason; the Decision has the rest. */
const evidenceMax = 12;

/** The commit message: the Decision, who approved it, the evidence, and how to revert it. */
export function lockMessage(
  { lockToGit: { path, edits, branch, baseRef } }: LockToGitStep,
  decision: Decision,
): string {
  const { metadata, spec, status } = decision;
  const changes = edits.map(({ pointer, from, to }) => `${pointer}: from ${from} to ${to}`);
  const [first] = edits;
  return [
    line(`Raise the memory limit in ${path} from ${first?.from ?? ""} to ${first?.to ?? ""}`, 100),
    "",
    line(spec.summary),
    "",
    ...changes.map((change) => line(change)),
    "",
    "Seen:",
    ...spec.evidence.slice(0, evidenceMax).map(({ fact, value, at }) => line(`- ${fact}: ${value} (${at})`)),
    "",
    branch === baseRef
      ? "To undo: set the cluster's limit back, then git revert this commit."
      : `To use it: merge ${line(branch)} into ${line(baseRef)}. To drop it: delete the branch.`,
    "",
    `Levee-Decision: ${line(`${metadata.namespace}/${metadata.name}`)}`,
    `Levee-Decision-UID: ${line(metadata.uid ?? "")}`,
    `Levee-Plan: ${line(spec.planHash)}`,
    `Levee-Approved-By: ${line(status?.approval?.by ?? "")}`,
    "",
  ].join("\n");
}

function line(text: string, charsMax = lineCharsMax): string {
  return foreignText(text, charsMax);
}
