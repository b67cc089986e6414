import type { AllocatedDevice } from "../../view/claim-view.ts";
import { metadataOnly, type KubeRequest } from "../client/api.ts";
import { resourceGroup } from "./resource-claim.ts";

/** The interface of a device, in the words of `status.devices[].networkData`. */
export interface NetworkData {
  readonly interfaceName?: string;
  /** `address/prefix`. */
  readonly ips?: readonly string[];
  readonly hardwareAddress?: string;
}

export interface ClaimNetworkData {
  readonly namespace: string;
  readonly claim: string;
  /** Whose data this is: what an earlier patch of the same owner had and this one lacks is removed. */
  readonly owner: string;
  readonly devices: readonly { readonly device: AllocatedDevice; readonly data: NetworkData }[];
}

/** Long enough for a slow server. Only the outbox waits for it. */
const deadlineMs = 10_000;

/**
 * Sets the networkData of devices by server-side apply, which changes nothing else of an entry: the entry belongs to the
 * device's driver. Without force, so what the driver itself says about the network stays, and the server refuses ours.
 */
export function networkDataPatch({ namespace, claim, owner, devices }: ClaimNetworkData): KubeRequest {
  const folder = `${resourceGroup}/namespaces/${encodeURIComponent(namespace)}/resourceclaims`;
  return {
    method: "PATCH",
    path: `${folder}/${encodeURIComponent(claim)}/status?fieldManager=${encodeURIComponent(owner)}`,
    contentType: "application/apply-patch+yaml",
    accept: metadataOnly,
    body: JSON.stringify({
      apiVersion: "resource.k8s.io/v1",
      kind: "ResourceClaim",
      metadata: { namespace, name: claim },
      status: { devices: devices.map(({ device, data }) => ({ ...keyOf(device), networkData: data })) },
    }),
    deadlineMs,
  };
}

/** By these the server finds the entry; each must be as in the allocation. */
function keyOf({ driver, pool, device, shareId }: AllocatedDevice): object {
  return { driver, pool, device, ...(shareId === undefined ? {} : { shareID: shareId }) };
}
