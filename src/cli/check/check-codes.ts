/**
 * What `levee check` looks at in a cluster. A code keeps its meaning for ever and is never used again for another;
 * docs/checks.md has a part for each, which `npm run check` holds in step, and `levee explain` tells them.
 */
export const checkCodes = {
  LVE0101: {
    title: "the API server answers",
    means: "No other check can run before it does.",
    todo: "Check that kubectl get nodes works with the same kubeconfig and context. If it does not, check the server's address in it, and the server.",
  },
  LVE0102: {
    title: "the API server is new enough",
    means: "The guard's limits are admission policies (ValidatingAdmissionPolicy), which Kubernetes has since 1.30.",
    todo: "Without the guard, do nothing. With it, upgrade the control plane first.",
  },
  LVE0103: {
    title: "this user may look at everything",
    means:
      "levee check cannot check what the API server refuses to show. Checks that lack it say so instead of saying that all is well.",
    todo: "Use an account that may get and list the named resources, or accept an incomplete result.",
  },
  LVE0201: {
    title: "the definitions are as shipped",
    means:
      "Rules in the definition make the API server refuse a changed plan of a Decision and a write of an old leader. Another definition may lack these rules.",
    todo: "kubectl apply -k deploy/crd of the release that runs.",
  },
  LVE0202: {
    title: "the policies that hold approvals and the guard are as shipped",
    means:
      "They prove the author of an approval and confine the guard's account. While one is missing or changed, the guard counts no approval and does nothing.",
    todo: "kubectl apply -k deploy/policies of the release that runs, then approve again: an approval counts only if it is five seconds younger than the policies.",
  },
  LVE0203: {
    title: "the policy of ownerless pods is as shipped",
    means:
      "It warns of pods that no controller will delete, and refuses them in namespaces with the label deny. Without it the guard can stop a source only by a quota.",
    todo: "kubectl apply -k deploy/policies.",
  },
  LVE0301: {
    title: "the guard runs",
    means:
      "It follows the cluster, names causes and proposes Decisions. Two replicas run, so that one is left when a node fails.",
    todo: "kubectl -n levee-system describe deployment levee-guard; it is installed by kubectl apply -f deploy/guard.yaml.",
  },
  LVE0302: {
    title: "one guard leads",
    means: "Only the holder of the Lease levee-guard proposes and acts. If the Lease is not renewed, no guard does.",
    todo: "kubectl -n levee-system logs -l app.kubernetes.io/component=guard; a guard that loses the Lease ends and is started again.",
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
    todo: "When the reason is over: kubectl apply -f deploy/guard.yaml.",
  },
  LVE0305: {
    title: "the breaker is closed",
    means:
      "The guard removed more pods in a day than a correct plan needs, so it removes none until a person has looked.",
    todo: "Look at what was removed (levee report DECISION). If it was right: levee decisions reset-breaker DECISION.",
  },
  LVE0306: {
    title: "somebody may approve",
    means:
      "The role levee-approver is bound to nobody when it is installed. Service accounts cannot approve, whatever is bound to them.",
    todo: "kubectl -n levee-system create rolebinding approvers --clusterrole=levee-approver --group=GROUP",
  },
  LVE0401: {
    title: "the CNI daemons are ready on every node",
    means: "On a node without its daemon no pod starts, and none can be torn down in order.",
    todo: "kubectl -n NAMESPACE get pods -o wide of the DaemonSet that is named, then levee check node NODE. Where none is installed: docs/install.md, or --context for the cluster that was meant.",
  },
  LVE0402: {
    title: "the CNI daemons have memory left",
    means: "A daemon that is killed for memory comes back to a larger backlog. That is the loop of a long outage.",
    todo: "First find the program that makes so many pods (LVE0601, LVE0603). A larger limit alone is eaten by the backlog.",
  },
  LVE0403: {
    title: "no CNI daemon was killed for memory",
    means: "Each kill interrupts the calls that run, and the kubelet repeats them all at once.",
    todo: "As LVE0402; docs/runbooks/MultusOOMLoop.md has the order in which a loop is broken.",
  },
  LVE0404: {
    title: "the daemons of the nodes can be asked",
    means:
      "Their own metrics, read through the API server, show memory and reboots. This needs the right to get nodes/proxy and the daemon's metricsPort.",
    todo: "levee check node on the node itself; --metrics-port if the daemons use another.",
  },
  LVE0501: {
    title: "the nodes are ready",
    means: "A node that is not ready takes no pods. Pods that ran there may still run.",
    todo: "kubectl describe node NODE.",
  },
  LVE0502: {
    title: "no node waits for a reboot",
    means:
      "This is the node's own mark, /run/reboot-required or /run/reboot-needed, whatever a reboot gate does with it.",
    todo: "After a day, see docs/runbooks/KuredRebootBacklog.md: it shows how to find what blocks the reboot.",
  },
  LVE0601: {
    title: "no namespace has a backlog",
    means:
      "A backlog is pods that have a node and have not started within five minutes. The kubelet asks the CNI for each of them again and again.",
    todo: "kubectl -n NAMESPACE get pods --field-selector=status.phase=Pending -o wide; on the node levee why POD.",
  },
  LVE0602: {
    title: "few pods are without an owner",
    means: "No controller deletes them when they are done or stuck, so their number only grows.",
    todo: "Find the program that makes them: the check shows what the client calls itself, the audit log names the account. See docs/runbooks/OwnerlessPods.md.",
  },
  LVE0603: {
    title: "there is no avalanche",
    means:
      "An avalanche is at least 20 ownerless pods of one make in one namespace that do not start. The guard proposes two Decisions about it.",
    todo: "levee decisions list, and approve the one that stops the source first.",
  },
  LVE0604: {
    title: "what Deny would refuse",
    means:
      "This applies the rule of the ownerless-pod policy to the pods that exist. The policy also looks at who makes a pod, which a pod does not show: it would let pods of persons, kubelets and accounts in kube-system through.",
    todo: "Before you label a namespace, check that the list contains none of its daily work. Allow build runners by levee.dev/ownerless-pods=allow, single pods by the annotation levee.dev/ownerless-reason.",
  },
  LVE0701: {
    title: "no Decision waits for a person",
    means: "The guard has named a cause and does nothing by itself. Meanwhile the outage goes on.",
    todo: "levee decisions show NAME, then approve or reject.",
  },
  LVE0702: {
    title: "no Decision is paused",
    means: "A recovery has stopped half way, because a check failed or a person paused it.",
    todo: "levee decisions show NAME says why; then resume or reject.",
  },
} as const satisfies Record<string, CheckFacts>;

export type CheckCode = keyof typeof checkCodes;

interface CheckFacts {
  /** As the line says it when all is well. */
  readonly title: string;
  readonly means: string;
  readonly todo: string;
}
