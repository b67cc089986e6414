import type { AllocatedDevice, ClaimAnswer } from "../../view/claim-view.ts";
import { kubeStatusOf, KubeError, type KubeApi } from "../client/api.ts";
import { objectOf, textOf } from "../client/json-fields.ts";

export const resourceGroup = "/apis/resource.k8s.io/v1";

/** One attempt must leave time for another within the look-up's budget. */
const readMsMax = 2_000;

/** Reads the devices of a claim. Nothing is kept: a claim changes, and a pod asks once. */
export async function readClaim(
  api: KubeApi,
  namespace: string,
  name: string,
  signal: AbortSignal,
): Promise<ClaimAnswer> {
  const path = `${resourceGroup}/namespaces/${encodeURIComponent(namespace)}/resourceclaims/${encodeURIComponent(name)}`;
  try {
    return allocationOf(JSON.parse(await api.call({ method: "GET", path, deadlineMs: readMsMax, signal })));
  } catch (thrown) {
    if (kubeStatusOf(thrown) !== 404) throw thrown;
    // A server without the group answers without Kubernetes' own reason.
    return thrown instanceof KubeError && thrown.reason === "NotFound" ? "absent" : "no-api";
  }
}

function allocationOf(claim: unknown): ClaimAnswer {
  const allocation = objectOf(objectOf(objectOf(claim)["status"])["allocation"]);
  const { results } = objectOf(allocation["devices"]);
  if (!Array.isArray(results)) return "unallocated";
  return results.map((value: unknown): AllocatedDevice => {
    const { driver, pool, device, request, shareID } = objectOf(value);
    const share = textOf(shareID);
    return {
      driver: textOf(driver),
      pool: textOf(pool),
      device: textOf(device),
      request: textOf(request),
      ...(share === "" ? {} : { shareId: share }),
    };
  });
}
