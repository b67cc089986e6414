import { listPages } from "../../../kube/watch/list-pages.ts";
import { SharedTexts } from "../../../base/shared-texts.ts";
import type { PodRecord } from "../../facts/pod-record.ts";
import { projectPod } from "../../facts/project-pod.ts";
import { namespacePath } from "./source-stopped.ts";
import type { StepContext } from "../step-hand.ts";

/** As when all pods are listed. */
const podsPerPage = 250;

/**
 * The pods of one namespace as the server has them now. A watch whose connection has died is silent for minutes before
 * that is noticed, and its silence must not be taken for that of the source.
 */
export async function eachLivePod(
  { api, signal }: Pick<StepContext, "api" | "signal">,
  namespace: string,
  onPod: (pod: PodRecord) => void,
): Promise<void> {
  const texts = new SharedTexts();
  const path = `${namespacePath(namespace)}/pods`;
  await listPages({ api, path, query: {}, signal, pageItems: podsPerPage }, (item) => {
    const pod = projectPod(item, texts);
    if (pod !== undefined) onPod(pod);
  });
}
