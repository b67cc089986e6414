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
  /** Set when a shim kept this DEL: the runtime was told of success, and the hand is not the call's own. */
  readonly kept?: KeptDelete;
  /** The call's configuration, asked for only when it is needed. */
  readonly config: () => Promise<JsonText>;
}

interface KeptDelete {
  /** What speaks for an attachment without any look; undefined when the daemon must look. */
  readonly sign: string | undefined;
}
