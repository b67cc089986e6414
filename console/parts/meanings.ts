/** What a number on the page means, and the command that shows the same. */
export interface Meaning {
  readonly title: string;
  readonly text: string;
  readonly command: string;
}

/** The numbers of the page. Codes (causes, phases, reasons, alerts) are explained by the server, as `levee explain` does. */
export const meanings = {
  adds: {
    title: "ADDs in line",
    text: "Pods whose network the runtime has asked for and that wait for a slot on this node, by the node's daemon. The line is safe: a waiting call costs almost no memory, and its order is kept.",
    command: "levee top",
  },
  dels: {
    title: "DELs in line",
    text: "Removals of pod networks that wait for a slot, by the node's daemon. They have slots of their own, so that ADDs never starve them.",
    command: "levee top",
  },
  slots: {
    title: "Slots in use",
    text: "A slot is the right to run plugins now. The daemon raises and lowers their number by how the host bears the load.",
    command: "levee top",
  },
  memory: {
    title: "Memory of the daemon",
    text: "What the node's daemon uses, against the limit of its container. Near the limit the daemon starts no further plugins instead of being killed.",
    command: "levee top",
  },
  kills: {
    title: "Kills",
    text: "Restarts of this node's CNI daemons of which the last was a kill for memory within the hour, or what a daemon's own cgroup counts, if that is more. The evidence of a Decision counts the same restarts.",
    command: "kubectl get pods -A -o wide | grep -e levee -e multus",
  },
  leaks: {
    title: "Leaks",
    text: "Things of a pod's network that no removal could take away so far: an interface, an address, a lock. They stay in a ledger, and the daemon goes on trying.",
    command: "levee leaks",
  },
  podsWaiting: {
    title: "Pods without their network",
    text: "Pods that have a node and not their network, by the API server. It counts pods whose call has not reached a daemon, too.",
    command: "kubectl get pods -A --field-selector=status.phase=Pending -o wide",
  },
  attached: {
    title: "Attached",
    text: "Pods that have their network at this moment, by the API server.",
    command: "levee status",
  },
  done: {
    title: "Attached since the point before",
    text: "How many pods got their network between this point and the one before it: the pace of the storm.",
    command: "levee top",
  },
  oldestWait: {
    title: "Oldest wait",
    text: "How long the first call in line has waited. Critical pods come first, then ordinary ones, then those that failed before.",
    command: "levee top",
  },
  classes: {
    title: "Classes",
    text: "critical: pods of the system, always first. ordinary: all others, namespaces in turn. penalty: pods that failed before. detach: removals.",
    command: "levee top",
  },
  held: {
    title: "Held back",
    text: "Pods and networks that failed and are answered from memory until their next try, so that one broken network does not slow the others.",
    command: "levee why NAMESPACE/POD",
  },
  runs: {
    title: "Runs of a plugin",
    text: "How often all daemons have run this plugin since they started, how many of those failed, and how long the last ones took: half of them at most p50, 99 of 100 at most p99.",
    command: "levee top",
  },
  networkReady: {
    title: "Nodes that can serve it",
    text: "Nodes that looked at their own host and found everything that this network's configuration names, of those that have answered.",
    command: "levee check node --all",
  },
  networkPods: {
    title: "Pods that ask for it",
    text: "Pods that name this network in their annotation, and those of them that still wait.",
    command: "levee check",
  },
  addresses: {
    title: "Addresses left",
    text: "Addresses of the network's ranges that no pod holds. whereabouts has one pool for the cluster; host-local has a range on each node, and the node with the fewest left is shown, as its daemon last counted.",
    command: "levee check",
  },
  firing: {
    title: "Alerts that fire, and those that are explained",
    text: "An alert is explained when a rule of the guard links it to the cause of an open Decision. The others have another cause: look at them first.",
    command: "levee decisions show NAME",
  },
  rebootDue: {
    title: "Reboot due",
    text: "The node has its mark for a reboot, such as /run/reboot-required, since this time.",
    command: "levee gate list",
  },
  gate: {
    title: "The reboot gate",
    text: "Whether the node may be rebooted now. Absent, expired or unknown means no.",
    command: "levee gate list",
  },
  evidence: {
    title: "Evidence",
    text: "What the guard counted when it made the proposal. Each fact has the time at which it was true.",
    command: "levee decisions show NAME",
  },
  planHash: {
    title: "Plan hash",
    text: "A hash over every step and target of the plan. An approval is for this hash alone: if the plan changes, approvals of the old one are void.",
    command: "levee decisions show NAME",
  },
} as const satisfies Readonly<Record<string, Meaning>>;

export type MeaningName = keyof typeof meanings;
