import { kubeStatusOf } from "../../kube/client/api.ts";
import { listIn, textIn } from "../kube-object.ts";
import { heldBy } from "../../guard/networks/address-pool-object.ts";
import type { Asking } from "./seen.ts";

const poolsPath = "/apis/whereabouts.cni.cncf.io/v1alpha1/ippools";
/** A pool may have a megabyte. */
const pageItems = 20;
const listMs = 30_000;

/**
 * Addresses that whereabouts holds, by the container IDs that are asked about. Nothing where whereabouts is not
 * installed, or where this user may not see its pools.
 */
export async function poolLeases(
  { api, signal }: Pick<Asking, "api" | "signal">,
  containerIds: ReadonlySet<string>,
): Promise<ReadonlyMap<string, readonly string[]>> {
  const held = new Map<string, string[]>();
  let token = "";
  try {
    do {
      const query = new URLSearchParams({ limit: String(pageItems), ...(token === "" ? {} : { continue: token }) });
      const path = `${poolsPath}?${query.toString()}`;
      const page: unknown = JSON.parse(await api.call({ method: "GET", path, deadlineMs: listMs, signal }));
      for (const { containerId, address } of listIn(page, "items").flatMap((pool) => heldBy(pool, containerIds)))
        held.set(containerId, [...(held.get(containerId) ?? []), address]);
      token = textIn(page, "metadata", "continue");
    } while (token !== "");
    return held;
  } catch (thrown) {
    const status = kubeStatusOf(thrown);
    if (status !== 403 && status !== 404) throw thrown;
    return new Map();
  }
}
