import type { Clock } from "../../base/clock.ts";
import type { KubeApi } from "../../kube/client/api.ts";
import { listPages } from "../../kube/watch/list-pages.ts";
import type { PolicyObject } from "../approve/policy-standing.ts";
import type { DecisionApproval } from "../decision/decision.ts";
import { policyPaths, projectPolicy } from "../observe/project-policy.ts";

/** A removed policy stops requests after at most this time. */
const ageMaxMs = 5_000;

interface LivePoliciesOptions {
  readonly api: KubeApi;
  readonly clock: Clock;
  readonly signal: AbortSignal;
}

/**
 * Our admission policies, read from the API server. A watch with a dead connection is silent for minutes, and a user who
 * removes a policy can forge an approval in that time. So a word is judged only by policies read after it.
 */
export class LivePolicies {
  readonly #options: LivePoliciesOptions;
  #read: { readonly policies: readonly PolicyObject[]; readonly atMs: number; readonly words: string } | undefined;

  constructor(options: LivePoliciesOptions) {
    this.#options = options;
  }

  /** Reads again when there are new words, or after a while. */
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
