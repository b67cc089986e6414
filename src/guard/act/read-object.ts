import { kubeStatusOf, type KubeApi } from "../../kube/client/api.ts";

const requestMs = 10_000;

/** An object as the server has it now, or undefined when there is none of the name. */
export async function readObject(api: KubeApi, path: string): Promise<unknown> {
  try {
    return JSON.parse(await api.call({ method: "GET", path, deadlineMs: requestMs }));
  } catch (thrown) {
    if (kubeStatusOf(thrown) === 404) return undefined;
    throw thrown;
  }
}
