import { LeveeError } from "../../../base/errors.ts";
import { kubeStatusOf } from "../../../kube/client/api.ts";
import { BudgetStore } from "./budget-store.ts";
import { defaultBudgetLimits, spend } from "./removal-budget.ts";
import type { StepContext } from "../step-runner.ts";

/** Only the leader writes the budget; a second writer is a leader about to end. */
const conflictsMax = 5;

/**
 * How many of these pods may be removed now: at least one. They are counted in the cluster before they are removed. Waits
 * while the minute's limit is used up. Throws when a daily limit is reached, after storing the open breaker.
 */
export async function grantRemovals(context: StepContext, namespace: string, pods: number): Promise<number> {
  const { api, clock, settings, signal } = context;
  const store = new BudgetStore(api, settings.namespace);
  for (let conflicts = 0; conflicts < conflictsMax;) {
    const stored = await store.read();
    const spending = spend(stored.budget, { namespace, pods, nowMs: clock.wallMs() }, defaultBudgetLimits);
    if (spending.verdict === "Wait") {
      await clock.sleep(spending.waitMs, signal);
      continue;
    }
    try {
      if (spending.budget !== stored.budget) await store.write(stored, spending.budget);
      if (spending.verdict === "Go") return spending.pods;
      throw new LeveeError("not-ready", breakerText(spending.why));
    } catch (thrown) {
      if (kubeStatusOf(thrown) !== 409) throw thrown;
      conflicts += 1;
    }
  }
  throw new LeveeError(
    "not-ready",
    "Cannot count the removed pods: another client keeps writing the ConfigMap levee-guard",
  );
}

/** Why nothing may be removed now; undefined when something may. */
export async function breakerProblem({ api, settings }: StepContext): Promise<string | undefined> {
  const { budget } = await new BudgetStore(api, settings.namespace).read();
  return budget.breaker === "" ? undefined : breakerText(budget.breaker);
}

function breakerText(why: string): string {
  return `the breaker is open: ${why}; a person closes it with the verdict ResetBreaker and then continues with Resume`;
}
