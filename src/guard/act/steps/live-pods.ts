import { listPages } from "../../../kube/watch/list-pages.ts";
import { SharedTexts } from "../../../base/shared-texts.ts";
import type { ClusterPod } from "../../facts/cluster-pod.ts";
import { projectClusterPod } from "../../facts/project-cluster-pod.ts";
import { namespacePath } from "./source-stopped.ts";
import type { StepContext } from "../step-runner.ts";

/** As for the list of all pods. */
const podsPerPage = 250;

/**
 * Reads the pods of a namespace from the API server. A watch with a dead connection is silent for minutes, and its silence
 * must not pass for a stopped source.
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
