/**
 * What `levee check` checks in a cluster. A code never changes its meaning. docs/checks.md has a section for each code,
 * which `npm run check` compares, and `levee explain` prints them.
 */
export const checkCodes = {
  LVE0101: {
    title: "the API server answers",
    means: "No other check can run before it does.",
    todo: "Check that kubectl get nodes works with the same kubeconfig and context. If it does not, check the server's address in it, and the server.",
  },
  LVE0102: {
    title: "the API server is new enough",
    means:
      "The guard's limits are admission policies (ValidatingAdmissionPolicy), which are stable since Kubernetes 1.30.",
    todo: "Without the guard, do nothing. With it, upgrade the control plane first.",
  },
  LVE0103: {
    title: "this user may read everything",
    means:
      "levee check cannot check what the API server refuses to show. Checks that lack it say so instead of saying that all is well.",
    todo: "Use an account that may get and list the named resources, or accept an incomplete result.",
  },
  LVE0201: {
    title: "the CRDs are as shipped",
    means:
      "Rules in the definition make the API server refuse a changed plan of a Decision and a write of an old leader. Another definition may lack these rules.",
    todo: "kubectl apply -f crds.yaml of the release that runs.",
  },
  LVE0202: {
    title: "the policies for approvals and for the guard are as shipped",
    means:
      "They prove the author of an approval and confine the guard's account. While one is missing or changed, the guard counts no approval and does nothing.",
    todo: "kubectl apply -f guard.yaml of the release that runs, then approve again: an approval counts only if it is five seconds younger than the policies.",
  },
  LVE0203: {
    title: "the policy for ownerless pods is as shipped",
    means:
      "It warns of pods that no controller will delete, and refuses them in namespaces with the label deny. Without it the guard can stop a source only by a quota.",
    todo: "kubectl apply -f guard.yaml of the release.",
  },
  LVE0301: {
    title: "the guard runs",
    means:
      "It follows the cluster, names causes and proposes Decisions. Two replicas run, so that one is left when a node fails.",
    todo: "kubectl -n levee-system describe deployment levee-guard. To install it: kubectl apply -f guard.yaml of the release.",
  },
  LVE0302: {
    title: "one guard leads",
    means: "Only the holder of the Lease levee-guard proposes and acts. If the Lease is not renewed, no guard does.",
    todo: "kubectl -n levee-system logs -l app.kubernetes.io/component=guard. A guard that loses the Lease ends, and Kubernetes restarts it.",
  },
  LVE0303: {
    title: "the guard's view is fresh",
    means: "A guard that hears nothing about a resource decides nothing.",
    todo: "Look in the guard's log for the named resource: the guard lacks the right to it, or the API server does not answer.",
  },
  LVE0304: {
    title: "the guard may act",
    means:
      "Deleting the ClusterRoleBinding levee-guard-acts stops everything at once: approved Decisions pause at their next write.",
    todo: "To allow actions again: kubectl apply -f guard.yaml of the release.",
  },
  LVE0305: {
    title: "the breaker is closed",
    means:
      "The guard removed more pods in a day than a correct plan needs, so it removes none until a person has looked.",
    todo: "Look at what was removed (levee report DECISION). If it was correct: levee decisions reset-breaker DECISION.",
  },
  LVE0306: {
    title: "a person may approve",
    means:
      "A new installation binds the role levee-approver to no one. Service accounts cannot approve, even with that role.",
    todo: "kubectl -n levee-system create rolebinding approvers --clusterrole=levee-approver --group=GROUP",
  },
  LVE0307: {
    title: "it is known what a raised memory limit is needed for",
    means:
      "The guard raised the memory limit of a CNI daemon, and proposes the way back after a week without pressure. It cannot while nobody tells what the daemon uses.",
    todo: "Give the guard --prometheus (with Helm: guard.prometheus), or lower the limit yourself. The way back in docs/guard.md says what Prometheus must have.",
  },
  LVE0401: {
    title: "the CNI daemons are ready on every node",
    means:
      "On a node without its daemon no pod can start, and none can be removed cleanly. Levee's own are found by the labels app.kubernetes.io/name=levee and app.kubernetes.io/component, Multus by its image, others as the guard's --cni-daemon names them. The evidence says which is which.",
    todo: "kubectl -n NAMESPACE get pods -o wide for the named DaemonSet, then levee check node NODE. If none is installed: docs/install.md, or use --context for another cluster.",
  },
  LVE0402: {
    title: "the CNI daemons have memory left",
    means: "A daemon that is killed for memory comes back to a larger backlog. That is the loop of a long outage.",
    todo: "First find the program that makes so many pods (LVE0601, LVE0603). A larger limit alone is eaten by the backlog.",
  },
  LVE0403: {
    title: "no CNI daemon was killed for memory",
    means: "Each kill interrupts the calls that run, and the kubelet repeats them all at once.",
    todo: "As for LVE0402. docs/runbooks/MultusOOMLoop.md shows how to break the loop.",
  },
  LVE0404: {
    title: "the daemons of all nodes answer",
    means:
      "Their own metrics, read through the API server, show memory and reboots. This needs the right to get nodes/proxy and the daemon's metricsPort.",
    todo: "Run levee check node on the node itself. Use --metrics-port if the daemons use another port.",
  },
  LVE0405: {
    title: "what others depend on goes first in a storm",
    means:
      "In a storm the pods of kube-system, those with a system priority and those that the daemons' criticalPods names start first. This check lists the namespaces with a webhook, a CSI driver, an ingress class or a Service of type LoadBalancer that are not among them. Until they run, the others cannot. Where the guard is installed, it also lists the namespaces of criticalPods without the label levee.dev/critical, by which the guard and its policies know that no workload is made smaller there.",
    todo: "Set criticalPods in daemon-config.json (Helm: config.criticalPods), without the namespaces that may wait, then restart the daemons; an empty list says that all may. Name only namespaces in which you trust everyone who may create pods, and give them the label levee.dev/critical.",
  },
  LVE0501: {
    title: "the nodes are ready",
    means: "A node that is not ready takes no pods. Pods that ran there may still run.",
    todo: "kubectl describe node NODE.",
  },
  LVE0502: {
    title: "no node waits for a reboot",
    means:
      "This is the node's own mark, /run/reboot-required or /run/reboot-needed, whatever a reboot gate does with it. What the gate says is shown beside it.",
    todo: "levee gate why NODE names every reason and how to clear it. Without a gate, see docs/runbooks/KuredRebootBacklog.md.",
  },
  LVE0601: {
    title: "no namespace has a backlog",
    means:
      "A backlog is pods that have a node and have not started within five minutes. The kubelet asks the CNI for each of them again and again.",
    todo: "kubectl -n NAMESPACE get pods --field-selector=status.phase=Pending -o wide; on the node levee why POD.",
  },
  LVE0602: {
    title: "few pods have no owner",
    means: "No controller deletes them when they are done or stuck, so their number only grows.",
    todo: "Find the program that makes them: the check shows what the client calls itself, the audit log names the account. See docs/runbooks/OwnerlessPods.md.",
  },
  LVE0603: {
    title: "there is no avalanche",
    means:
      "An avalanche is at least 20 ownerless pods of one make in one namespace that do not start. The guard proposes two Decisions about it.",
    todo: "levee decisions list, then first approve the one that stops the source.",
  },
  LVE0604: {
    title: "pods that Deny would refuse",
    means:
      "This applies the rule of the ownerless-pod policy to the pods that exist. The policy also looks at who makes a pod, which a pod does not show: it would let pods of persons, kubelets and accounts in kube-system through.",
    todo: "Before you label a namespace, check that the list contains none of its daily work. Allow build runners by levee.dev/ownerless-pods=allow, single pods by the annotation levee.dev/ownerless-reason.",
  },
  LVE0701: {
    title: "no Decision has waited long for a person",
    means: "The guard has found a cause and does nothing without approval. Meanwhile the outage goes on.",
    todo: "levee decisions show NAME, then approve or reject.",
  },
  LVE0702: {
    title: "no Decision is paused",
    means: "A recovery has stopped half way, because a check failed or a person paused it.",
    todo: "levee decisions show NAME shows why; then resume or reject it.",
  },
  LVE0801: {
    title: "no network definition changed or went while pods use it",
    means:
      "Pods that run keep the old network; pods that start later get the new one, or none at all. The guard remembers since it started. It warns by an event on the definition too, and blocks nothing.",
    todo: "Restart the pods one after another, or bring the old definition back. levee explain LVN0703 says more.",
  },
  LVE0802: {
    title: "no two network definitions give the same addresses",
    means:
      "Two definitions on one segment have ranges that overlap, and their address plugins do not know of each other's leases: two pods can get one address.",
    todo: "Change the range of the named definition, which is the younger one. Its event names the other one. levee explain LVN0503 says more.",
  },
  LVE0803: {
    title: "networks have addresses left",
    means:
      "host-local has a range on each node, whereabouts one for the cluster. When every address is taken, no further pod with that network starts there. The daemons count those of host-local with each round of garbage collection, and the guard those of whereabouts once a minute; other address plugins are not counted.",
    todo: "levee explain NetworkAddressesLow",
  },
  LVE0804: {
    title: "no ready network of a node is in doubt",
    means:
      "The network works, and yet: its range holds an address that the node itself has on the same segment, so a pod can get it and two hosts have one address; or, with uplinkGate 0, its bridge lacks an uplink. The daemons look once a minute. No pod is kept back.",
    todo: "levee check node NAME names network and address. Exclude the address from the range, or give the node another one.",
  },
} as const satisfies Record<string, CheckFacts>;

export type CheckCode = keyof typeof checkCodes;

interface CheckFacts {
  /** The line's text, worded for the case that it passes. */
  readonly title: string;
  readonly means: string;
  readonly todo: string;
}
