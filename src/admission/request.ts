import type { Subject } from "../base/subject.ts";

/**
 * The facts of a call for admission. It is small on purpose, because every call in line keeps one. The shim keeps the
 * call's configuration until GO.
 */
export interface AdmissionRequest {
  /** `other` never waits: STATUS, VERSION, health, metrics. */
  readonly kind: "attach" | "detach" | "other";
  /** The unit of fairness: each namespace gets its own turns. Empty without a pod. */
  readonly namespace: string;
  /** The pod's key, for the retry budget and for superseding: its UID, else namespace and name, else the container. */
  readonly pod: string;
  /** The pod's priority; undefined while unknown. */
  readonly priority: number | undefined;
  /** The time that the call has left when it asks; undefined where its caller sets no limit. */
  readonly leftMs?: number;
  /** Ends the call's plugin when it hangs. */
  readonly hand?: { killAll(): void };
  /** Every network whose plugins the call will run, including the primary. */
  readonly networks: readonly string[];
  /**
   * Everything besides the node that decides the outcome: the annotation, the networks' configurations, the primary's.
   * A change ends the pod's hold. It may be long, so it is computed only for pods that have failed. Undefined where the
   * pod cannot be recognised at its next call; such a call is never held.
   */
  readonly wants?: (() => string) | undefined;
  /** It ran before the daemon restarted, and finishing its work is cheaper than undoing it. */
  readonly isResumed?: boolean;
  /** It has failed, stays in its call for another try, and waits for its network's next probe. */
  readonly isRetry?: boolean;
  /** The call's pod, for listeners of rulings. Admission itself ignores it. */
  readonly subject?: Subject;
}

/** In the order of service. `exempt` needs no slot, and `detach` has slots of its own. */
export type AdmissionClass = "exempt" | "detach" | "critical" | "ordinary" | "penalty";

export const attachClasses = ["critical", "ordinary", "penalty"] as const satisfies readonly AdmissionClass[];

/** The value of system-cluster-critical; system-node-critical is higher. Users' classes end at 10^9. */
const criticalPriority = 2_000_000_000;

/** A node or cluster cannot heal without the pods in here. Only administrators may create pods in them. */
export const criticalNamespaces: ReadonlySet<string> = new Set(["kube-system"]);

export interface ClassRules {
  readonly criticalNamespaces: ReadonlySet<string>;
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
  if (request.isResumed === true || rules.criticalNamespaces.has(request.namespace)) return true;
  return isCriticalPriority(request.priority);
}

/** An unknown priority counts as ordinary. */
export function isCriticalPriority(priority: number | undefined): boolean {
  return priority !== undefined && priority >= criticalPriority;
}

/**
 * The node's own networks under one name. The configuration says which they are, and the shim keeps that until the call
 * has its slot.
 */
export const nodeNetworks = "(node)";
