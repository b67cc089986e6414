import type { Verdict } from "../../guard/decision/decision.ts";
import type { ConsoleVerdict } from "../../console/serve/console-route.ts";
import type { ViewerWord } from "../../console/serve/viewer.ts";
import type { VerdictAnswer } from "../../wire/console-decision.ts";
import { CommandFailure, exitCode } from "../failure.ts";
import { requireNamed, requireOpen, requireSamePlan, care } from "../decisions/consent.ts";
import {
  createApproval,
  readApprovals,
  readDecision,
  whoAmI,
  type DecisionSource,
} from "../decisions/decision-source.ts";
import { newApprovalText, standingApproval } from "../decisions/give-verdict.ts";

const verdicts: Readonly<Record<ConsoleVerdict, Verdict>> = {
  approve: "Approve",
  reject: "Reject",
  pause: "Pause",
  resume: "Resume",
};

/**
 * Gives the viewer's word as `levee decisions approve` and its siblings do: the typed name, the plan that was read, and a
 * DecisionApproval made with the viewer's own credentials.
 */
export async function sayVerdict(source: DecisionSource, word: ViewerWord): Promise<VerdictAnswer> {
  const verdict = verdicts[word.verdict];
  const decision = await readDecision(source, word.decision);
  requireOpen(decision, verdict);
  const isBound = care[verdict] === "plan";
  // On the command line a pause asks for nothing, so that nothing keeps a person from stopping things.
  if (care[verdict] !== "none") requireNamed(decision, verdict, word.typedName);
  if (isBound) requirePlan(decision.spec.planHash, word);
  const approvals = verdict === "Approve" ? await readApprovals(source, decision.metadata.name) : [];
  const standing = verdict === "Approve" ? standingApproval({ decision, approvals }) : undefined;
  if (standing !== undefined)
    return {
      approval: standing.metadata.name,
      by: standing.spec.by.username,
      text: `${standing.spec.by.username} approved ${word.decision} already; no second approval is created`,
    };
  const by = await whoAmI(source);
  const approval = await createApproval(source, decision, { verdict, by, reason: word.reason });
  if (isBound) requireSamePlan(decision, await readDecision(source, word.decision), approval);
  return { approval: approval.metadata.name, by, text: newApprovalText(approval).trim() };
}

/** The card may be older than the plan. */
function requirePlan(planHash: string, word: ViewerWord): void {
  if (word.planHash === planHash) return;
  throw new CommandFailure(
    "plan-changed",
    `Cannot ${word.verdict} ${word.decision}: its plan is ${planHash}, and you read ${word.planHash || "none"}`,
    { remedy: "read the card again: it shows the present plan", exitCode: exitCode.wordMissing },
  );
}
