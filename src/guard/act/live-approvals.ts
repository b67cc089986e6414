import type { KubeApi } from "../../kube/client/api.ts";
import { listPages } from "../../kube/watch/list-pages.ts";
import { decisionApiVersion, type DecisionApproval } from "../decision/decision.ts";
import { parseApproval } from "../decision/parse-approval.ts";

/** People's words, read from the API server: a watch may be behind. */
export async function liveApprovals(
  api: KubeApi,
  namespace: string,
  signal: AbortSignal,
): Promise<readonly DecisionApproval[]> {
  const path = `/apis/${decisionApiVersion}/namespaces/${encodeURIComponent(namespace)}/decisionapprovals`;
  const found: DecisionApproval[] = [];
  await listPages({ api, path, query: {}, signal, pageItems: 500 }, (item) => {
    const approval = parseApproval(item);
    if (approval !== undefined) found.push(approval);
  });
  return found;
}
