import type { Clock } from "../../base/clock.ts";
import type { KubeApi } from "../../kube/client/api.ts";
import { listPages } from "../../kube/watch/list-pages.ts";
import type { PolicyObject } from "../approve/policy-standing.ts";
import type { DecisionApproval } from "../decision/decision.ts";
import { policyPaths, projectPolicy } from "../observe/project-policy.ts";

/** One that is taken away stops the next request but for this long. */
const ageMaxMs = 5_000;

interface LivePoliciesOptions {
  readonly api: KubeApi;
  readonly clock: Clock;
  readonly signal: AbortSignal;
}

/**
 * Our admission policies as the server has them. A watch whose connection has died is silent for minutes, and whoever takes
 * a policy away can forge an approval meanwhile: a word is judged only by what was read after it had been seen.
 */
export class LivePolicies {
  readonly #options: LivePoliciesOptions;
  #read: { readonly policies: readonly PolicyObject[]; readonly atMs: number; readonly words: string } | undefined;

  constructor(options: LivePoliciesOptions) {
    this.#options = options;
  }

  /** Read again when there are words that were not there before, or after a while. */
  async after(approvals: readonly DecisionApproval[]): Promise<readonly PolicyObject[]> {
    const words = approvals.map(({ metadata }) => metadata.uid ?? metadata.name).join(" ");
    const nowMs = this.#options.clock.monotonicMs();
    if (this.#read !== undefined && this.#read.words === words && nowMs - this.#read.atMs < ageMaxMs)
      return this.#read.policies;
    const policies: PolicyObject[] = [];
    for (const kind of ["ValidatingAdmissionPolicy", "ValidatingAdmissionPolicyBinding"] as const) {
      const project = projectPolicy(kind);
      const path = policyPaths[kind];
      await listPages({ ...this.#options, path, query: {} }, (item) => {
        const kept = project(item);
        if (kept !== undefined) policies.push(kept.policy);
      });
    }
    this.#read = { policies, atMs: nowMs, words };
    return policies;
  }
}
