import { kubeStatusOf, type KubeApi } from "../../kube/client/api.ts";
import { dryRunsPath, parseDryRun, type DryRunRequest } from "../../wire/dry-run.ts";

/** A command waits for the answer. */
const deadlineMs = 5_000;

/** The request of a dry run; undefined when there is none. Rejects with a `KubeError`. */
export async function readDryRun(api: KubeApi, namespace: string, name: string): Promise<DryRunRequest | undefined> {
  try {
    const path = `${dryRunsPath(namespace)}/${encodeURIComponent(name)}`;
    return parseDryRun(JSON.parse(await api.call({ method: "GET", path, deadlineMs })));
  } catch (thrown) {
    // Neither the object nor its definition need to be there.
    if (kubeStatusOf(thrown) === 404) return undefined;
    throw thrown;
  }
}
