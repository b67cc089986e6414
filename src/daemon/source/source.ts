import type { EventTeller } from "../tell/event-teller.ts";
import type { ClaimTeller } from "../tell/claim-teller.ts";
import type { StatusTeller } from "../tell/status-teller.ts";
import type { View } from "../../view/view.ts";
import type { ReflectorHealth } from "../../kube/watch/reflector-health.ts";
import type { GateSource } from "../gate/gate-source.ts";

/** A folder or a cluster: the daemon reads pods and networks from it, and tells it what happened to them. */
export interface Source {
  readonly view: View;
  readonly eventTeller: EventTeller;
  readonly statusTeller: StatusTeller;
  /** Undefined unless the settings ask for it. */
  readonly claimTeller?: ClaimTeller | undefined;
  /** The node's name in the cluster; undefined on a machine without a cluster. */
  readonly nodeName?: string;
  /** How well the local copies follow the API server; undefined on a machine without a cluster. */
  readonly health?: () => readonly ReflectorHealth[];
  /** The reboot gate of this node; undefined on a machine without a cluster. */
  readonly gate?: GateSource;
  /** Present problems for a person: a file that cannot be read, an API server that does not answer. */
  notices(): readonly string[];
  close(): Promise<void>;
}
