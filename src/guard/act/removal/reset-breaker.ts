import type { Logger } from "../../../base/log.ts";
import { approvalProblem, startProblem } from "../../approve/approval-problem.ts";
import type { PolicyObject } from "../../approve/policy-standing.ts";
import type { Decision, DecisionApproval } from "../../decision/decision.ts";
import { foreignText } from "../../detect/foreign-text.ts";
import { timeMs } from "../../json-values.ts";
import type { BudgetStore, StoredBudget } from "./budget-store.ts";
import { resetBreaker } from "./removal-budget.ts";

interface ResetFacts {
  readonly decisions: readonly Decision[];
  readonly approvals: readonly DecisionApproval[];
  readonly policies: readonly PolicyObject[];
  readonly nowMs: number;
}

/** Closes the breaker if a person has asked for it since it opened. Resolves with the resulting budget. */
export async function resetWhenAsked(
  store: BudgetStore,
  stored: StoredBudget,
  facts: ResetFacts,
  logger: Logger,
): Promise<StoredBudget> {
  if (stored.budget.breaker === "") return stored;
  const word = facts.approvals.find((approval) => isReset(approval, stored.budget.openedMs, facts));
  if (word === undefined) return stored;
  const after = await store.write(stored, resetBreaker(stored.budget));
  const by = foreignText(word.spec.by.username, 253);
  logger.info("audit", { what: "close the breaker", approval: word.metadata.name, approvedBy: by, result: "closed" });
  return after;
}

/** A word that counts, on any Decision, after the opening and within an approval's age. */
function isReset(approval: DecisionApproval, openedMs: number, { decisions, policies, nowMs }: ResetFacts): boolean {
  if (approval.spec.verdict !== "ResetBreaker" || startProblem(approval, nowMs) !== undefined) return false;
  const decision = decisions.find(({ metadata }) => metadata.name === approval.spec.decision);
  if (decision === undefined || approvalProblem({ decision, approval, policies }) !== undefined) return false;
  // Times are whole seconds: a word of the second of the opening may be older.
  return timeMs(approval.metadata.creationTimestamp) > openedMs;
}
