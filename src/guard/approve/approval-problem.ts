import type { Decision, DecisionApproval } from "../decision/decision.ts";
import { isPlanIntact } from "../decision/parse-decision.ts";
import { authorProblem as decisionProblem } from "./decision-author.ts";
import {
  approvalPolicy,
  policySinceMs,
  confiningPolicies,
  policyProblems,
  type PolicyObject,
} from "./policy-standing.ts";

/** An approval that has not started by then is void: the cluster is no longer the one that the person saw. */
const startWithinMs = 15 * 60_000;
/** By then every API server has seen a policy. Times in objects are whole seconds. */
export const policyAgeMinMs = 5_000;

/** Clocks of one cluster differ by seconds; an approval from further ahead would stay valid for longer. */
export const aheadMaxMs = 60_000;

interface ApprovalQuestion {
  readonly decision: Decision;
  readonly approval: DecisionApproval;
  /** All policies and bindings of the cluster, read after the approval. */
  readonly policies: readonly PolicyObject[];
}

/** Why a person's word does not count; undefined when it does. `startProblem` checks its age. */
export function approvalProblem(question: ApprovalQuestion): string | undefined {
  return (
    planProblem(question) ??
    withdrawal(question.approval) ??
    authorProblem(question.approval) ??
    policyProblem(question) ??
    decisionProblem(question.decision, question.policies)
  );
}

/** Why an approval can no longer start; undefined when it can. Not for a plan that has already started. */
export function startProblem({ metadata }: DecisionApproval, nowMs: number): string | undefined {
  const madeMs = Date.parse(metadata.creationTimestamp ?? "");
  if (Number.isNaN(madeMs)) return "the approval has no creation time";
  if (madeMs - nowMs > aheadMaxMs)
    return `the approval is from ${Math.ceil((madeMs - nowMs) / 60_000)} minutes ahead: the clocks of the API server and the guard differ`;
  if (nowMs - madeMs <= startWithinMs) return undefined;
  return `the approval is ${Math.floor((nowMs - madeMs) / 60_000)} minutes old; it must begin within 15`;
}

function planProblem({ decision, approval: { spec, metadata } }: ApprovalQuestion): string | undefined {
  if (metadata.namespace !== decision.metadata.namespace || spec.decision !== decision.metadata.name)
    return `it is for the Decision ${metadata.namespace}/${spec.decision}`;
  if (spec.decisionUID !== decision.metadata.uid) return "it is for an earlier Decision of the same name";
  if (!isPlanIntact(decision)) return "the Decision's plan does not match its hash";
  return spec.planHash === decision.spec.planHash ? undefined : otherPlan(decision, spec);
}

/**
 * A person may approve what they have read while the guard replaces it. A word that says stop means the Decision and not
 * one of its plans.
 */
function otherPlan({ spec: { revisions = [] } }: Decision, word: DecisionApproval["spec"]): string | undefined {
  const { planHash, verdict } = word;
  const revision = revisions.find((one) => one.planHash === planHash);
  if (revision === undefined) return `it is for the plan ${planHash}`;
  if (verdict === "Reject" || verdict === "Pause") return undefined;
  return `it is for the plan before ${revision.at}, which has changed since (${revision.change}): read the new one and approve that`;
}

/**
 * A deleted approval no longer counts, even while a finalizer keeps it: foreground deletion waits for the garbage
 * collector, which an outage may have stopped. A word that says stop counts until it is gone.
 */
function withdrawal({ metadata, spec: { verdict } }: DecisionApproval): string | undefined {
  if (metadata.deletionTimestamp === undefined || verdict === "Pause" || verdict === "Reject") return undefined;
  return "it is being deleted";
}

/** The admission policy checks this too; this is the second lock on the same door. */
function authorProblem({ spec: { by } }: DecisionApproval): string | undefined {
  const isWorkload = /^system:(?!admin$)/u.test(by.username);
  return isWorkload || by.username === "" ? `its author ${by.username} is not a person` : undefined;
}

function policyProblem({ approval, policies }: ApprovalQuestion): string | undefined {
  const [problem] = policyProblems(policies, [approvalPolicy, ...confiningPolicies]);
  if (problem !== undefined) return `${problem}: apply guard.yaml of the release, then approve again`;
  const madeMs = Date.parse(approval.metadata.creationTimestamp ?? "");
  // An unknown time makes the comparison false.
  if (madeMs - policySinceMs(policies, approvalPolicy) >= policyAgeMinMs) return undefined;
  return `the policy ${approvalPolicy} is not 5 s older than it, so its author may be forged: approve again`;
}
