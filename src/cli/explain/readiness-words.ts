import type { ReadyReason } from "../../guard/readiness/readiness-object.ts";
import type { Explanation } from "./guard-words.ts";

/** The reasons of the condition Ready of a NetworkReadiness. */
export const readinessFacts: Readonly<Record<ReadyReason, Explanation>> = {
  AllNodesReady: {
    means: "Every node that counts has all that the network needs, by a look at the definition as it is now.",
    todo: "Nothing. levee check network NAME --all --dry-run also tries it.",
  },
  NodesNotReady: {
    means:
      "A node lacks something that the network needs: a bridge, its uplink or VLAN, an interface, a plugin, a daemon.",
    todo: "levee check network NAME --all names each node, what is missing and how to mend it. The condition follows within a minute. If some nodes shall not have the network, leave them out by spec.nodeSelector.",
  },
  NodesNotHeard: {
    means:
      "No node is known to lack anything, but some have not said anything about this version of the definition: their daemon does not answer, has not read it yet, or has no resident hand, or the hand could not see the uplink of the network's bridge.",
    todo: "Wait a minute. Then levee check network NAME --all says what was not seen where, and levee check node --all shows the nodes whose daemon or hand is missing; the guard reaches the daemons on their metricsPort.",
  },
  NetworkMissing: {
    means: "There is no NetworkAttachmentDefinition of that name in the namespace of the NetworkReadiness.",
    todo: "Make it, or correct spec.network.",
  },
  NoNodes: {
    means: "No node that is Ready and not cordoned has the labels of spec.nodeSelector.",
    todo: "kubectl get nodes --show-labels; correct the labels or spec.nodeSelector.",
  },
};
