import type { GateReason } from "../../../wire/gate-codes.ts";
import type { NodeFacts } from "../../facts/world.ts";
import type { GateFacts } from "../gate-facts.ts";

const daemonsMax = 5;

/** The CNI daemon of another node is not ready: the pods of this node would have nowhere to go. */
export function cniDaemonNotReady({ name }: NodeFacts, { idleDaemons, nowMs }: GateFacts): readonly GateReason[] {
  const others = idleDaemons.filter(({ node }) => node !== name);
  return others.slice(0, daemonsMax).map(({ daemonSet, node, what }) => ({
    code: "CniDaemonNotReady",
    message:
      node === ""
        ? `${what} of the CNI daemon ${daemonSet} are missing`
        : `the CNI daemon ${daemonSet} is not ready on node ${node} (pod ${what})`,
    sinceMs: nowMs,
    object: node === "" ? `DaemonSet/${daemonSet}` : `Node/${node}`,
    remedy: `kubectl -n ${daemonSet.split("/")[0]} get pods -o wide shows it; levee check says more`,
  }));
}
