import { kubeStatusOf, type KubeApi } from "../../kube/client/api.ts";

const requestMs = 10_000;

/** Reads an object from the API server; undefined when it does not exist. */
export async function readObject(api: KubeApi, path: string): Promise<unknown> {
  try {
    return JSON.parse(await api.call({ method: "GET", path, deadlineMs: requestMs }));
  } catch (thrown) {
    if (kubeStatusOf(thrown) === 404) return undefined;
    throw thrown;
  }
}
