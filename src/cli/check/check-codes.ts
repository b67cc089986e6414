/**
 * What `levee check` looks at in a cluster. A code keeps its meaning for ever and is never used again for another;
 * docs/checks.md has a part for each, which `npm run check` holds in step, and `levee explain` tells them.
 */
export const checkCodes = {
  LVE0101: {
    title: "the API server answers",
    means: "Nothing else can be looked at before it does.",
    todo: "See that kubectl get nodes works with the same kubeconfig and context; look at the server's address in it, and at the server.",
  },
  LVE0102: {
    title: "the API server is new enough",
    means: "The guard's limits are admission policies (ValidatingAdmissionPolicy), which Kubernetes has since 1.30.",
    todo: "Without the guard nothing needs to be done. With it, upgrade the control plane first.",
  },
  LVE0103: {
    title: "this user may look at everything",
    means:
      "What the API server refuses to show cannot be checked; the lines that lack it say so instead of saying that all is well.",
    todo: "Ask with an account that may get and list what is named, or take the result for what it is.",
  },
  LVE0201: {
    title: "the definitions are as shipped",
    means:
      "The API server itself refuses that a Decision's plan is changed or that an old leader writes, by rules in the definition. Another definition may lack them.",
    todo: "kubectl apply -k deploy/crd of the release that runs.",
  },
  LVE0202: {
    title: "the policies that hold approvals and the guard are as shipped",
    means:
      "They make the author of an approval true and confine the guard's account. While one is missing or changed the guard counts no approval and acts on nothing.",
    todo: "kubectl apply -k deploy/policies of the release that runs, then approve again: an approval counts only if it is five seconds younger than the policies.",
  },
  LVE0203: {
    title: "the policy of ownerless pods is as shipped",
    means:
      "It warns of pods that nobody will delete, and refuses them where a namespace is labelled so. Without it the guard can stop a source only by a quota.",
    todo: "kubectl apply -k deploy/policies.",
  },
  LVE0301: {
    title: "the guard runs",
    means:
      "It follows the cluster, names causes and proposes Decisions. Two replicas run, so that one is there when a node is not.",
    todo: "kubectl -n levee-system describe deployment levee-guard; it is installed by kubectl apply -f deploy/guard.yaml.",
  },
  LVE0302: {
    title: "one guard leads",
    means:
      "Only the holder of the Lease levee-guard proposes and acts. A Lease that is not renewed means that nobody does.",
    todo: "kubectl -n levee-system logs -l app.kubernetes.io/component=guard; a guard that loses the Lease ends and is started again.",
  },
  LVE0303: {
    title: "the guard's view is fresh",
    means: "A guard that hears nothing of a resource decides nothing.",
    todo: "Look at the guard's log for the resource that is named: it lacks the right to it, or the API server does not answer.",
  },
  LVE0304: {
    title: "the guard may act",
    means:
      "Deleting the ClusterRoleBinding levee-guard-acts is how everything is stopped at once; approved Decisions pause at their next write.",
    todo: "When the reason is over: kubectl apply -f deploy/guard.yaml.",
  },
  LVE0305: {
    title: "the breaker is closed",
    means:
      "More pods were removed in a day than a right plan needs, so the guard removes none until a person has looked.",
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
    means: "One that is killed for memory comes back to a larger backlog; that is the loop of a long outage.",
    todo: "Find what makes so many pods first (LVE0601, LVE0603); a larger limit alone is eaten by the backlog.",
  },
  LVE0403: {
    title: "no CNI daemon was killed for memory",
    means: "Each kill cuts the calls that ran, and the kubelet repeats them all at once.",
    todo: "As LVE0402; docs/runbooks/MultusOOMLoop.md has the order in which a loop is broken.",
  },
  LVE0404: {
    title: "the daemons of the nodes can be asked",
    means:
      "Their own metrics, read through the API server, tell memory and reboots. It takes the right to get nodes/proxy and the daemon's metricsPort.",
    todo: "levee check node on the node itself; --metrics-port if the daemons use another.",
  },
  LVE0501: {
    title: "the nodes are ready",
    means: "A node that is not ready takes no pods, and what ran there may be running still.",
    todo: "kubectl describe node NODE.",
  },
  LVE0502: {
    title: "no node waits for a reboot",
    means: "The node's own mark, /run/reboot-required or /run/reboot-needed, whatever a reboot gate makes of it.",
    todo: "After a day see docs/runbooks/KuredRebootBacklog.md: who holds the reboot back, and whether it still should.",
  },
  LVE0601: {
    title: "no namespace has a backlog",
    means:
      "Pods that have a node and have not started within five minutes: kubelet asks the CNI for each of them again and again.",
    todo: "kubectl -n NAMESPACE get pods --field-selector=status.phase=Pending -o wide; on the node levee why POD.",
  },
  LVE0602: {
    title: "few pods are without an owner",
    means: "Nobody deletes them when they are done or stuck, so they only get more.",
    todo: "Find their maker: the client's own word is shown, the audit log names the account. docs/runbooks/OwnerlessPods.md.",
  },
  LVE0603: {
    title: "there is no avalanche",
    means:
      "At least 20 ownerless pods of one make in one namespace that do not start: the cause of which the guard makes two Decisions.",
    todo: "levee decisions list, and approve the one that stops the source first.",
  },
  LVE0604: {
    title: "what Deny would refuse",
    means:
      "The rule of the ownerless-pod policy applied to the pods that are there. It asks who makes a pod, which a pod does not tell: pods of persons, kubelets and of accounts in kube-system would be let through.",
    todo: "Before labelling a namespace, see that nothing of its daily work is listed; allow build runners by levee.dev/ownerless-pods=allow, single pods by the annotation levee.dev/ownerless-reason.",
  },
  LVE0701: {
    title: "no Decision waits for a person",
    means: "The guard has named a cause and does nothing by itself. Meanwhile the outage goes on.",
    todo: "levee decisions show NAME, then approve or reject.",
  },
  LVE0702: {
    title: "no Decision is paused",
    means: "A recovery has stopped half way, because a check did not hold or somebody said so.",
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
