import type { Decision } from "../decision/decision.ts";
import { policyProblems, policySinceMs, type PolicyObject } from "./policy-standing.ts";

/** Lets nobody but the guard's own account make a Decision or write its status. Policy and binding have one name. */
export const decisionPolicy = "levee-decisions-come-from-the-guard";
/** As for approvals: every API server has seen a policy after this long, and times in objects are whole seconds. */
const policyAgeMinMs = 5_000;

/**
 * Why it is not certain that the guard made a Decision; undefined when it is. Whoever may create Decisions could write one
 * whose targets are theirs and wait for somebody to approve it in good faith.
 */
export function authorProblem(decision: Decision, policies: readonly PolicyObject[]): string | undefined {
  const [problem] = policyProblems(policies, [decisionPolicy]);
  if (problem !== undefined) return `${problem}, so anybody may have made the Decision: apply deploy/policies`;
  return authorLost(decision, policies);
}

/** The policy is there but too young: who made the Decision is never known any more, and it has to be asked anew. */
export function authorLost({ metadata }: Decision, policies: readonly PolicyObject[]): string | undefined {
  if (policyProblems(policies, [decisionPolicy]).length > 0) return undefined;
  const madeMs = Date.parse(metadata.creationTimestamp ?? "");
  // Also when either time is unknown.
  if (madeMs - policySinceMs(policies, decisionPolicy) >= policyAgeMinMs) return undefined;
  return `the policy ${decisionPolicy} is not 5 s older than the Decision, so anybody may have made it; it is asked again`;
}
