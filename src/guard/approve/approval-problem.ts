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

/** An approval that has not begun after this long is void: the cluster is no longer the one that was looked at. */
const startWithinMs = 15 * 60_000;
/** Every API server has seen a policy after this long. Times in objects are whole seconds. */
const policyAgeMinMs = 5_000;

/** Clocks of one cluster differ by seconds; an approval from further ahead would stay young for as long. */
export const aheadMaxMs = 60_000;

interface ApprovalQuestion {
  readonly decision: Decision;
  readonly approval: DecisionApproval;
  /** All policies and bindings of the cluster, read after the approval. */
  readonly policies: readonly PolicyObject[];
}

/** Why a person's word does not count, for people; or undefined when it does. How old it may be is asked apart. */
export function approvalProblem(question: ApprovalQuestion): string | undefined {
  return (
    planProblem(question) ??
    withdrawal(question.approval) ??
    authorProblem(question.approval) ??
    policyProblem(question) ??
    decisionProblem(question.decision, question.policies)
  );
}

/** Why an approval can no longer begin, or undefined. Not for one whose first step has begun. */
export function startProblem({ metadata }: DecisionApproval, nowMs: number): string | undefined {
  const madeMs = Date.parse(metadata.creationTimestamp ?? "");
  if (Number.isNaN(madeMs)) return "the approval does not say when it was made";
  if (madeMs - nowMs > aheadMaxMs)
    return `the approval is from ${Math.ceil((madeMs - nowMs) / 60_000)} minutes ahead: the clocks of the API server and the guard differ`;
  if (nowMs - madeMs <= startWithinMs) return undefined;
  return `the approval is ${Math.floor((nowMs - madeMs) / 60_000)} minutes old; it must begin within 15`;
}

function planProblem({ decision, approval: { spec, metadata } }: ApprovalQuestion): string | undefined {
  if (metadata.namespace !== decision.metadata.namespace || spec.decision !== decision.metadata.name)
    return `it is for the Decision ${metadata.namespace}/${spec.decision}`;
  if (spec.decisionUID !== decision.metadata.uid) return "it is for an earlier Decision of the same name";
  if (!isPlanIntact(decision)) return "the Decision's plan has not the hash that it states";
  return spec.planHash === decision.spec.planHash ? undefined : `it is for the plan ${spec.planHash}`;
}

/**
 * One that was deleted counts no more, even while a finalizer keeps it: a deletion in the foreground waits for the garbage
 * collector, which an outage may have stopped. A word that says stop counts until it is gone.
 */
function withdrawal({ metadata, spec: { verdict } }: DecisionApproval): string | undefined {
  if (metadata.deletionTimestamp === undefined || verdict === "Pause" || verdict === "Reject") return undefined;
  return "it is being deleted";
}

/** The policy holds this too. Here it is the second lock of the same door. */
function authorProblem({ spec: { by } }: DecisionApproval): string | undefined {
  const isWorkload = /^system:(?!admin$)/u.test(by.username);
  return isWorkload || by.username === "" ? `its author ${by.username} is no person` : undefined;
}

function policyProblem({ approval, policies }: ApprovalQuestion): string | undefined {
  const [problem] = policyProblems(policies, [approvalPolicy, ...confiningPolicies]);
  if (problem !== undefined) return `${problem}: apply deploy/policies, then approve again`;
  const madeMs = Date.parse(approval.metadata.creationTimestamp ?? "");
  // Also when either time is unknown.
  if (madeMs - policySinceMs(policies, approvalPolicy) >= policyAgeMinMs) return undefined;
  return `the policy ${approvalPolicy} is not 5 s older than it, so its author may be forged: approve again`;
}
