/** A device that a claim was given. */
export interface AllocatedDevice {
  readonly driver: string;
  readonly pool: string;
  readonly device: string;
  /** The request in the claim; `request/subrequest` where it had alternatives. */
  readonly request: string;
  /** Tells apart several uses of a device that claims can share; absent for all other devices. */
  readonly shareId?: string;
}

/** A device as its driver describes it on this node. A text is empty where the driver gives none. */
export interface PublishedDevice {
  readonly deviceId: string;
  readonly resourceName: string;
}

/** `absent`: there is no such claim. `unallocated`: it has no devices yet. `no-api`: the cluster has no DRA. */
export type ClaimAnswer = readonly AllocatedDevice[] | "absent" | "unallocated" | "no-api";

/** ResourceClaims and ResourceSlices of the API server. Only ADD may ask. Rejects with a `KubeError`. */
export interface ClaimView {
  claim(namespace: string, name: string, signal: AbortSignal): Promise<ClaimAnswer>;
  /** Undefined when no slice of this node has the device. */
  published(device: AllocatedDevice, signal: AbortSignal): Promise<PublishedDevice | undefined>;
}
