/** `Owner`: make a workload smaller. `SandboxNames`: free the names. `Reboots`: clear what blocks reboots. */
export type AskedThing = "Owner" | "SandboxNames" | "Reboots";

export interface AskedItem {
  /** `Pod/shop/web-1`, `Alert/NodeFilesystemFull`: with the node it tells two items apart. */
  readonly object: string;
  /** Empty where the item is not about one node. */
  readonly node: string;
  /** Of a pod; empty otherwise. */
  readonly uid: string;
  readonly what: string;
  /** RFC 3339. */
  readonly since: string;
  /** What to type or to do. */
  readonly line: string;
}
