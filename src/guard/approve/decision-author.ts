import type { Decision } from "../decision/decision.ts";
import { policyProblems, policySinceMs, type PolicyObject } from "./policy-standing.ts";

/** Only the guard's account may create a Decision or write its status. Policy and binding share this name. */
export const decisionPolicy = "levee-decisions-come-from-the-guard";
/** By then every API server has seen a policy. Times in objects are whole seconds. */
const policyAgeMinMs = 5_000;

/**
 * Why it is uncertain that the guard created a Decision; undefined when it is certain. A user who may create Decisions
 * could write one with targets of their choice and wait until a person approves it in good faith.
 */
export function authorProblem(decision: Decision, policies: readonly PolicyObject[]): string | undefined {
  const [problem] = policyProblems(policies, [decisionPolicy]);
  if (problem !== undefined)
    return `${problem}, so anyone may have created the Decision: apply guard.yaml of the release`;
  return authorLost(decision, policies);
}

/** The policy is installed but too young: the author stays unknown, and the guard has to propose again. */
export function authorLost({ metadata }: Decision, policies: readonly PolicyObject[]): string | undefined {
  if (policyProblems(policies, [decisionPolicy]).length > 0) return undefined;
  const madeMs = Date.parse(metadata.creationTimestamp ?? "");
  // An unknown time makes the comparison false.
  if (madeMs - policySinceMs(policies, decisionPolicy) >= policyAgeMinMs) return undefined;
  return `the policy ${decisionPolicy} is not 5 s older than the Decision, so anyone may have created it; the guard proposes it again`;
}
