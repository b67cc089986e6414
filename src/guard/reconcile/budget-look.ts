import type { Clock } from "../../base/clock.ts";
import { toLeveeError } from "../../base/errors.ts";
import type { Logger } from "../../base/log.ts";
import type { KubeApi } from "../../kube/client/api.ts";
import { BudgetStore } from "../act/removal/budget-store.ts";
import { budgetNotes, defaultBudgetLimits } from "../act/removal/removal-budget.ts";
import { resetWhenAsked } from "../act/removal/reset-breaker.ts";
import type { PolicyObject } from "../approve/policy-standing.ts";
import type { Decision, DecisionApproval } from "../decision/decision.ts";
import type { GuardSettings } from "../facts/guard-settings.ts";

interface BudgetLookOptions {
  readonly api: KubeApi;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly settings: GuardSettings;
}

/** The facts that decide about resetting the breaker; `ClusterFacts` has them. */
interface ResetSource {
  decisions(): readonly Decision[];
  approvals(): readonly DecisionApproval[];
  policies(): readonly PolicyObject[];
}

/** The removal limits and the breaker: texts for every proposal, and the reset that a person asks for. */
export class BudgetLook {
  readonly #options: BudgetLookOptions;
  readonly #store: BudgetStore;
  notes: readonly string[] = [];

  constructor(options: BudgetLookOptions) {
    this.#options = options;
    this.#store = new BudgetStore(options.api, options.settings.namespace);
  }

  async refresh(source: ResetSource): Promise<void> {
    const { clock, logger } = this.#options;
    const nowMs = clock.wallMs();
    const facts = {
      decisions: source.decisions(),
      approvals: source.approvals(),
      policies: source.policies(),
      nowMs,
    };
    try {
      const { budget } = await resetWhenAsked(this.#store, await this.#store.read(), facts, logger);
      this.notes = budgetNotes(budget, defaultBudgetLimits, nowMs);
    } catch (thrown) {
      this.notes = [`Cannot tell how many pods may be removed: ${toLeveeError(thrown, "Cannot read it").message}`];
    }
  }
}
