import { toLeveeError } from "../../base/errors.ts";
import type { Logger } from "../../base/log.ts";
import { kubeStatusOf, metadataOnly, type KubeApi } from "../../kube/client/api.ts";
import { liveApprovals } from "../act/live-approvals.ts";
import { startProblem } from "../approve/approval-problem.ts";
import type { PolicyObject } from "../approve/policy-standing.ts";
import type { Proposal } from "../decide/causes/make-proposal.ts";
import { lastWord, wordsOn } from "../decide/words-on.ts";
import { decisionApiVersion, type Decision } from "../decision/decision.ts";
import type { GuardSettings } from "../facts/guard-settings.ts";

const requestMs = 10_000;

interface ReplaceOptions {
  readonly api: KubeApi;
  readonly nowMs: number;
  readonly logger: Logger;
  readonly settings: GuardSettings;
  readonly source: { policies(): readonly PolicyObject[] };
  readonly term: { isHeld(): boolean };
  readonly onRefused?: () => void;
}

/**
 * Replaces the plan of a proposal, if it is as it was read. False when a person has answered it meanwhile: what somebody
 * has read and approved is not taken away. The API server refuses a change of a plan that counts as approved.
 */
export async function replacePlan(
  options: ReplaceOptions,
  { name, spec }: Proposal,
  before: Decision,
): Promise<boolean> {
  const { api, logger, settings, term, onRefused } = options;
  const { uid, resourceVersion } = before.metadata;
  const why = spec.revisions?.at(-1)?.change ?? "";
  try {
    if ((await isAnswered(options, before)) || !term.isHeld()) return false;
    await api.call({
      method: "PATCH",
      path: `${decisionsPath(settings)}/${encodeURIComponent(name)}`,
      body: JSON.stringify({ metadata: { uid, resourceVersion }, spec }),
      contentType: "application/merge-patch+json",
      accept: metadataOnly,
      deadlineMs: requestMs,
    });
    logger.info("Changed the plan of a Decision", { name, planHash: spec.planHash, why });
    return true;
  } catch (thrown) {
    // It has changed since it was read, or it is gone: the next round sees how it is.
    if ([404, 409].includes(kubeStatusOf(thrown) ?? 0)) return false;
    onRefused?.();
    // The old plan stays, and a person can still approve it.
    logger.error("Cannot change the plan of a Decision", {
      name,
      error: toLeveeError(thrown, "Cannot change it").message,
    });
    return false;
  }
}

/** Asks the API server: the watch may not have delivered an approval yet. */
async function isAnswered({ api, nowMs, source }: ReplaceOptions, decision: Decision): Promise<boolean> {
  const approvals = await liveApprovals(api, decision.metadata.namespace, new AbortController().signal);
  const words = wordsOn({ decision, approvals, policies: source.policies() });
  if (words.counting.some(({ spec }) => spec.verdict === "Reject")) return true;
  const word = lastWord(words);
  return word?.spec.verdict === "Approve" && startProblem(word, nowMs) === undefined;
}

export function decisionsPath({ namespace }: GuardSettings): string {
  return `/apis/${decisionApiVersion}/namespaces/${encodeURIComponent(namespace)}/decisions`;
}
