import { decisionPhase } from "../../guard/decide/standing.ts";
import type { Decision, DecisionApproval, Verdict } from "../../guard/decision/decision.ts";
import { waitMsOf, type ClusterCommandOptions, type WaitOptions } from "../cluster/cluster-options.ts";
import type { Context } from "../context.ts";
import type { Shell } from "../shell.ts";
import { print } from "../terminal/print.ts";
import { care, requireConsent, requireOpen, requireSamePlan, type ConsentOptions } from "./consent.ts";
import { createApproval, readDecision, whoAmI, type DecisionSource } from "./decision-source.ts";
import { follow, followingInterrupted, requireSucceeded } from "./follow.ts";
import { readWithApprovals, showDecision, type ApprovableDecision } from "./show-decision.ts";

export interface VerdictOptions extends ClusterCommandOptions, WaitOptions, ConsentOptions {
  readonly reason?: string;
}

interface VerdictRequest {
  readonly name: string;
  readonly verdict: Verdict;
  readonly options: VerdictOptions;
}

/** Shows the plan, asks for the person's consent to exactly this plan, and creates the approval in their name. */
export async function giveVerdict(
  context: Context,
  source: DecisionSource,
  { name, verdict, options }: VerdictRequest,
): Promise<void> {
  const { shell, settings } = context;
  const waitMs = waitMsOf(options);
  const shown = await readWithApprovals(source, name, shell);
  const { decision } = shown;
  const isText = settings.output === "table" || settings.output === "wide";
  if (isText && verdict !== "Pause") showDecision(context, shown);
  requireOpen(decision, verdict);
  const { approval, text } = await approvalFor(shell, source, shown, { name, verdict, options });
  if (isText) shell.stdout.write(`\n${text}`);
  const last = waitMs === 0 ? decision : await follow({ shell, source, timeoutMs: waitMs }, decision);
  showOutcome(context, approval, last, waitMs > 0);
  if (waitMs > 0 && care[verdict] === "plan") requireSucceeded(last);
}

interface StandingApproval {
  readonly approval: DecisionApproval;
  readonly text: string;
}

async function approvalFor(
  shell: Shell,
  source: DecisionSource,
  shown: ApprovableDecision,
  request: VerdictRequest,
): Promise<StandingApproval> {
  const { verdict, options } = request;
  const standing = verdict === "Approve" ? standingApproval(shown) : undefined;
  if (standing === undefined || options.planHash !== undefined)
    await requireConsent(shell, shown.decision, verdict, options);
  if (standing !== undefined) return { approval: standing, text: alreadyApprovedText(standing) };
  const by = await whoAmI(source);
  // A person may read for minutes, and the guard replaces a plan that nobody has approved.
  const isBound = care[verdict] === "plan";
  if (isBound) requireSamePlan(shown.decision, await readDecision(source, shown.decision.metadata.name));
  const approval = await createApproval(source, shown.decision, { verdict, by, reason: options.reason });
  if (isBound) requireSamePlan(shown.decision, await readAfter(shell, source, shown.decision), approval);
  return { approval, text: newApprovalText(approval) };
}

/** The word is given: who stops the command here must know that the Decision goes on. */
async function readAfter(shell: Shell, source: DecisionSource, decision: Decision): Promise<Decision> {
  try {
    return await readDecision(source, decision.metadata.name);
  } catch (thrown) {
    throw shell.interrupted.aborted ? followingInterrupted(decision) : thrown;
  }
}

/** A repeated approval, after Ctrl-C perhaps, follows the one that stands and creates no second. */
export function standingApproval({
  decision,
  approvals,
}: Pick<ApprovableDecision, "decision" | "approvals">): DecisionApproval | undefined {
  if (!["Approved", "Running"].includes(decisionPhase(decision))) return undefined;
  return approvals.find(({ metadata }) => metadata.name === decision.status?.approval?.name);
}

function alreadyApprovedText({ metadata, spec }: DecisionApproval): string {
  return `${spec.by.username} approved ${spec.decision} already at ${metadata.creationTimestamp ?? ""}; no second approval is created\n`;
}

function showOutcome({ shell, settings }: Context, approval: DecisionApproval, last: Decision, isEnd: boolean): void {
  print(shell.stdout, settings.output, {
    value: { approval, decision: last },
    text: () => (isEnd ? `${last.metadata.name} is ${decisionPhase(last)}\n` : ""),
    name: () => `decisionapproval.levee.dev/${approval.metadata.name}\n`,
  });
}

export function newApprovalText({ metadata, spec }: DecisionApproval): string {
  const limit = spec.verdict === "Approve" ? "; the approval is void unless the plan begins within 15 minutes" : "";
  return `${spec.by.username} gave the verdict ${spec.verdict} on ${spec.decision}${limit}\nTo withdraw it: kubectl -n ${metadata.namespace} delete decisionapproval ${metadata.name}\n`;
}
