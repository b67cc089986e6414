import { BudgetStore } from "../../guard/act/removal/budget-store.ts";
import { budgetNotes, defaultBudgetLimits } from "../../guard/act/removal/removal-budget.ts";
import type { Decision, DecisionApproval } from "../../guard/decision/decision.ts";
import { outOfReach } from "../cluster/with-cluster.ts";
import type { Context } from "../context.ts";
import type { Shell } from "../shell.ts";
import { paintFor } from "../terminal/paint.ts";
import { print } from "../terminal/print.ts";
import { readApprovals, readDecision, type DecisionSource } from "./decision-source.ts";
import { decisionText } from "./decision-text.ts";

/** A Decision with everything a person needs to approve it. */
export interface ApprovableDecision {
  readonly decision: Decision;
  readonly approvals: readonly DecisionApproval[];
  readonly budget: readonly string[];
}

export async function readWithApprovals(
  source: DecisionSource,
  name: string,
  shell: Shell,
): Promise<ApprovableDecision> {
  const decision = await readDecision(source, name);
  return {
    decision,
    approvals: await readApprovals(source, decision.metadata.name),
    budget: await budgetOf(source, shell),
  };
}

/** An approver may lack the right to read the guard's ConfigMap; the proposal's notes have the limits too. */
async function budgetOf({ api, namespace }: DecisionSource, { clock }: Shell): Promise<readonly string[]> {
  try {
    const { budget } = await new BudgetStore(api, namespace).read();
    return budgetNotes(budget, defaultBudgetLimits, clock.wallMs());
  } catch (thrown) {
    if (outOfReach(thrown) === undefined) throw thrown;
    return [];
  }
}

export function showDecision({ shell, settings }: Context, shown: ApprovableDecision): void {
  const paint = paintFor(shell.stdout, shell.env);
  print(shell.stdout, settings.output, {
    value: shown,
    text: () => decisionText({ ...shown, nowMs: shell.clock.wallMs(), paint }),
    name: () => `${resourceName(shown.decision)}\n`,
  });
}

export function resourceName({ metadata }: Decision): string {
  return `decision.levee.dev/${metadata.name}`;
}
