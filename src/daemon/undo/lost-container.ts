import type { ContainerId, IfName, JsonText } from "../../base/brand.ts";
import type { CniArgs } from "../../cni/cni-args.ts";
import type { NetnsNow } from "./netns-to-pass.ts";

/** A container that a DEL names and the journal has no record of. */
export interface LostContainer {
  readonly containerId: ContainerId;
  readonly ifname: IfName;
  readonly args: CniArgs;
  readonly cniPath: string;
  readonly now: NetnsNow;
  /** The call's configuration, asked for only when it is needed. */
  readonly config: () => Promise<JsonText>;
}
