/**
 * What `levee check` checks in a cluster. A code never changes its meaning. docs/checks.md has a section for each code,
 * which `npm run check` compares, and `levee explain` prints them.
 */
export const checkCodes = {
  LVE0101: {
    title: "the API server answers",
    means: "Nothing else can be checked before it does.",
    todo: "Check that kubectl get nodes works with the same kubeconfig and context. Look at the server's address in it, and at the server.",
  },
  LVE0102: {
    title: "the API server is new enough",
    means:
      "The guard's limits are admission policies (ValidatingAdmissionPolicy), which are stable since Kubernetes 1.30.",
    todo: "Without the guard there is nothing to do. To use the guard, upgrade the control plane first.",
  },
  LVE0103: {
    title: "this user may read everything",
    means: "What the API server refuses to show cannot be checked. The lines that need it say so and never pass.",
    todo: "Use an account that may get and list the named resources, or accept the partial result.",
  },
  LVE0201: {
    title: "the CRDs are as shipped",
    means:
      "Rules in the CRDs make the API server refuse changes of a Decision's plan and writes of an old leader. Another version of a CRD may lack them.",
    todo: "kubectl apply -k deploy/crd of the release that runs.",
  },
  LVE0202: {
    title: "the policies for approvals and for the guard are as shipped",
    means:
      "They guarantee the author of an approval and confine the guard's account. While one is missing or changed, the guard counts no approval and carries nothing out.",
    todo: "kubectl apply -k deploy/policies of the release that runs, then approve again: an approval counts only if it is five seconds younger than the policies.",
  },
  LVE0203: {
    title: "the policy for ownerless pods is as shipped",
    means:
      "It warns about pods that no controller will delete, and refuses them in namespaces labelled for it. Without it the guard can stop a source only by a quota.",
    todo: "kubectl apply -k deploy/policies.",
  },
  LVE0301: {
    title: "the guard runs",
    means:
      "The guard watches the cluster, finds causes and proposes Decisions. It has two replicas, so that one is left when a node fails.",
    todo: "kubectl -n levee-system describe deployment levee-guard. To install it: kubectl apply -f deploy/guard.yaml.",
  },
  LVE0302: {
    title: "one guard leads",
    means: "Only the holder of the Lease levee-guard proposes and acts. If the Lease is not renewed, no guard does.",
    todo: "kubectl -n levee-system logs -l app.kubernetes.io/component=guard. A guard that loses the Lease ends, and Kubernetes restarts it.",
  },
  LVE0303: {
    title: "the guard's view is fresh",
    means: "A guard without news about a resource decides nothing.",
    todo: "Search the guard's log for the named resource: the guard lacks the right to read it, or the API server does not answer.",
  },
  LVE0304: {
    title: "the guard may act",
    means:
      "Deleting the ClusterRoleBinding levee-guard-acts stops all actions at once: approved Decisions pause at their next write.",
    todo: "To allow actions again: kubectl apply -f deploy/guard.yaml.",
  },
  LVE0305: {
    title: "the breaker is closed",
    means:
      "The guard removed more pods in a day than a correct plan needs, so it removes no more until a person has looked.",
    todo: "Look at what was removed (levee report DECISION). If it was correct: levee decisions reset-breaker DECISION.",
  },
  LVE0306: {
    title: "a person may approve",
    means:
      "A new installation binds the role levee-approver to no one. Service accounts cannot approve, even with that role.",
    todo: "kubectl -n levee-system create rolebinding approvers --clusterrole=levee-approver --group=GROUP",
  },
  LVE0401: {
    title: "the CNI daemons are ready on every node",
    means: "On a node without its daemon no pod can start, and none can be removed cleanly.",
    todo: "kubectl -n NAMESPACE get pods -o wide for the named DaemonSet, then levee check node NODE. If none is installed: docs/install.md, or use --context for another cluster.",
  },
  LVE0402: {
    title: "the CNI daemons have memory left",
    means: "A daemon that is killed for memory comes back to a larger backlog. This loop causes long outages.",
    todo: "First find what creates so many pods (LVE0601, LVE0603). The backlog would use up a larger limit too.",
  },
  LVE0403: {
    title: "no CNI daemon was killed for memory",
    means: "Each kill cuts off the running calls, and the kubelet repeats all of them at once.",
    todo: "As for LVE0402. docs/runbooks/MultusOOMLoop.md shows how to break the loop.",
  },
  LVE0404: {
    title: "the daemons of all nodes answer",
    means:
      "Memory and pending reboots come from the daemons' own metrics, read through the API server. This needs the right to get nodes/proxy, and the daemons' metricsPort.",
    todo: "Run levee check node on the node itself. Use --metrics-port if the daemons use another port.",
  },
  LVE0501: {
    title: "the nodes are ready",
    means: "A node that is not ready takes no new pods, but its old pods may still run.",
    todo: "kubectl describe node NODE.",
  },
  LVE0502: {
    title: "no node waits for a reboot",
    means: "The node's own mark, /run/reboot-required or /run/reboot-needed, whether or not a reboot gate acts on it.",
    todo: "If a node waits for more than a day, see docs/runbooks/KuredRebootBacklog.md: find out what holds the reboot back.",
  },
  LVE0601: {
    title: "no namespace has a backlog",
    means:
      "A backlog is pods that have a node and have not started within five minutes. The kubelet retries the CNI call for each of them.",
    todo: "kubectl -n NAMESPACE get pods --field-selector=status.phase=Pending -o wide; on the node levee why POD.",
  },
  LVE0602: {
    title: "few pods have no owner",
    means: "No controller deletes them when they are done or stuck, so they accumulate.",
    todo: "Find their maker: the line shows what the client calls itself, and the audit log has the account. See docs/runbooks/OwnerlessPods.md.",
  },
  LVE0603: {
    title: "there is no avalanche",
    means:
      "An avalanche is at least 20 ownerless pods of one shape in one namespace that do not start. The guard proposes two Decisions for it.",
    todo: "levee decisions list, then first approve the one that stops the source.",
  },
  LVE0604: {
    title: "pods that Deny would refuse",
    means:
      "This applies the rule of the ownerless-pod policy to the existing pods. The policy also asks for the creator, which a pod does not show: it accepts pods that a person, a kubelet or an account in kube-system creates.",
    todo: "Before you label a namespace, check that the list has none of its regular pods. Allow build runners with levee.dev/ownerless-pods=allow, and single pods with the annotation levee.dev/ownerless-reason.",
  },
  LVE0701: {
    title: "no Decision has waited long for a person",
    means: "The guard has found a cause and does nothing without approval. Meanwhile the outage goes on.",
    todo: "levee decisions show NAME, then approve or reject.",
  },
  LVE0702: {
    title: "no Decision is paused",
    means: "A recovery stopped half-way, because a check failed or a person paused it.",
    todo: "levee decisions show NAME shows why; then resume or reject it.",
  },
} as const satisfies Record<string, CheckFacts>;

export type CheckCode = keyof typeof checkCodes;

interface CheckFacts {
  /** The line's text, worded for the case that it passes. */
  readonly title: string;
  readonly means: string;
  readonly todo: string;
}
