import { listPages } from "../../../kube/watch/list-pages.ts";
import { SharedTexts } from "../../../base/shared-texts.ts";
import type { ClusterPod } from "../../facts/cluster-pod.ts";
import { projectClusterPod } from "../../facts/project-cluster-pod.ts";
import { namespacePath } from "./source-stopped.ts";
import type { StepContext } from "../step-runner.ts";

/** As when all pods are listed. */
const podsPerPage = 250;

/**
 * The pods of one namespace as the server has them now. A watch whose connection has died is silent for minutes before
 * that is noticed, and its silence must not be taken for that of the source.
 */
export async function eachLivePod(
  { api, signal }: Pick<StepContext, "api" | "signal">,
  namespace: string,
  onPod: (pod: ClusterPod) => void,
): Promise<void> {
  const texts = new SharedTexts();
  const path = `${namespacePath(namespace)}/pods`;
  await listPages({ api, path, query: {}, signal, pageItems: podsPerPage }, (item) => {
    const pod = projectClusterPod(item, texts);
    if (pod !== undefined) onPod(pod);
  });
}
