import type { Subject } from "../base/subject.ts";

/**
 * What admission is told of a call. Small on purpose: this is all that a waiting call keeps here, the bulk of it stays
 * with the shim until "go".
 */
export interface AdmissionRequest {
  /** What the call does to the pod. `other` is what never waits: STATUS, VERSION, health, metrics. */
  readonly kind: "attach" | "detach" | "other";
  /** The flow: one namespace's pods wait for each other before they make another's wait. Empty without a pod. */
  readonly namespace: string;
  /** One pod, for the retry budget and for a retry that supersedes: its UID, else namespace and name, else container. */
  readonly pod: string;
  /** The pod's priority; undefined while nobody has told it. */
  readonly priority: number | undefined;
  /** Every network whose plugins the call will run, the primary's included. */
  readonly networks: readonly string[];
  /**
   * Whatever decides the outcome besides the node: annotation, the networks' configurations, the primary's. A pod that
   * is held is let go as soon as this changes. Asked only about pods that have failed, as it may be long. Undefined
   * where nobody can tell whether it is the same pod that comes back: such a call is never held.
   */
  readonly wants?: (() => string) | undefined;
  /** It was admitted before the daemon restarted and has work on the node; finishing that is cheaper than undoing it. */
  readonly isResumed?: boolean;
  /** It has failed inside its call and stays for another try: it waits for its network's next probe, as others do. */
  readonly isRetry?: boolean;
  /** Whose call it is, for those who are told of rulings; admission itself does not look at it. */
  readonly subject?: Subject;
}

/** In order of service; `exempt` is not counted, `detach` has slots of its own. */
export type AdmissionClass = "exempt" | "detach" | "critical" | "ordinary" | "penalty";

export const attachClasses = ["critical", "ordinary", "penalty"] as const satisfies readonly AdmissionClass[];

/** The value of the class system-cluster-critical; system-node-critical is above it. Users' classes end at 10^9. */
const criticalPriority = 2_000_000_000;

/** Without what runs here the node or the cluster heals nothing; nobody but an administrator may create pods in them. */
export const systemNamespaces: ReadonlySet<string> = new Set(["kube-system"]);

export interface ClassRules {
  readonly systemNamespaces: ReadonlySet<string>;
  /** Whether the pod has used up its retry budget for what it wants. */
  isOverBudget(pod: string, wants: AdmissionRequest["wants"]): boolean;
}

export function classOf(request: AdmissionRequest, rules: ClassRules): AdmissionClass {
  if (request.kind === "other") return "exempt";
  if (request.kind === "detach") return "detach";
  if (isCritical(request, rules)) return "critical";
  return rules.isOverBudget(request.pod, request.wants) ? "penalty" : "ordinary";
}

function isCritical(request: AdmissionRequest, rules: ClassRules): boolean {
  if (request.isResumed === true || rules.systemNamespaces.has(request.namespace)) return true;
  return isCriticalPriority(request.priority);
}

/** A priority that is not known yet is an ordinary one, until somebody tells it. */
export function isCriticalPriority(priority: number | undefined): boolean {
  return priority !== undefined && priority >= criticalPriority;
}

/**
 * The node's own networks under one name. The configuration says which they are, and the shim keeps that until the call
 * has its slot.
 */
export const nodeNetworks = "(node)";
