/**
 * The steps of a plan: a closed list, each with typed parameters in a member named after its type. No shell, no free
 * text: what a step may do is written here and in the definition of the Decision (`deploy/crd/decision.yaml`), nowhere else.
 */
export const stepTypes = [
  "LabelNamespace",
  "SetQuota",
  "HoldArgo",
  "RemovePods",
  "SetMemory",
  "RolloutRestart",
  "LockGit",
  "ListStuck",
  "Verify",
] as const;

export type StepType = (typeof stepTypes)[number];

export type Step =
  | LabelNamespaceStep
  | SetQuotaStep
  | HoldArgoStep
  | RemovePodsStep
  | SetMemoryStep
  | RolloutRestartStep
  | LockGitStep
  | ListStuckStep
  | VerifyStep;

export interface StepBase {
  /** Its place in the plan, from 1 on. */
  readonly id: number;
  /** The step in one sentence. */
  readonly what: string;
  /** What takes it back, or that nothing does. */
  readonly undo?: string;
  /** Looked at again just before the step. One that does not hold pauses. */
  readonly preconditions?: readonly Precondition[];
  /** Looked at after the step, until it holds or the deadline has passed, which pauses. */
  readonly check: StepCheck;
  /** The same by hand; at least one line. */
  readonly kubectl: readonly string[];
}

export interface Precondition {
  readonly rule: PreconditionRule;
  readonly what: string;
}

export type PreconditionRule =
  /** Enough of the frozen targets are still Pending. Up to and including the removal. */
  | "CausePresent"
  /** The namespace refuses new ownerless pods. */
  | "SourceStopped"
  /** Argo CD does not revert by itself: a window denies it, or automatic sync is off. */
  | "RevertHeld"
  /** The object has the UID and the old value that the step names. */
  | "Unchanged"
  /** The file in git still has the content that was read. */
  | "BlobUnchanged";

export interface StepCheck {
  readonly rule: CheckRule;
  readonly what: string;
  readonly deadlineSeconds: number;
}

export type CheckRule =
  | "LabelSeen"
  | "QuotaInForce"
  | "RevertHeld"
  | "TargetsGone"
  | "RolloutComplete"
  | "CommitHasOnePath"
  | "Listed"
  | "Recovered";

/** The installed ownerless-pod policy denies in a namespace with this label: the source is stopped at once. */
export interface LabelNamespaceStep extends StepBase {
  readonly type: "LabelNamespace";
  readonly labelNamespace: {
    readonly namespace: string;
    readonly uid: string;
    readonly key: string;
    readonly value: string;
  };
}

/** Only where that policy is not installed: as many pods as the namespace has besides the avalanche, and some headroom. */
export interface SetQuotaStep extends StepBase {
  readonly type: "SetQuota";
  readonly setQuota: { readonly namespace: string; readonly name: string; readonly pods: number };
}

/** Waits until Argo CD cannot revert the next steps. A person makes the hold with the line shown. */
export interface HoldArgoStep extends StepBase {
  readonly type: "HoldArgo";
  readonly holdArgo: {
    readonly namespace: string;
    readonly application: string;
    readonly project: string;
    /** What the window is recognised by: its description. */
    readonly window: string;
    /** Whether Argo CD would revert the change on its own, at the proposal. */
    readonly revertArmed?: boolean;
  };
}

/** Removes pods that never started a container: by UID, in batches. */
export interface RemovePodsStep extends StepBase {
  readonly type: "RemovePods";
  readonly removePods: {
    /** At once on one node; each removal is a CNI DEL there. */
    readonly batchPerNode: number;
    /** Without a grace period, which is for what has never started a container. */
    readonly force: boolean;
    /** With fewer targets still Pending the cause is taken as gone. */
    readonly causeMin: number;
  };
  readonly targets: readonly PodTarget[];
}

/** A pod as it was frozen at the proposal. Everything else about it is read again just before the step. */
export interface PodTarget {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  readonly node?: string;
}

export interface WorkloadReference {
  readonly kind: "DaemonSet" | "Deployment" | "StatefulSet";
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
}

/** Gives one container more memory; the workload's controller restarts its pods for it. */
export interface SetMemoryStep extends StepBase {
  readonly type: "SetMemory";
  readonly setMemory: {
    readonly workload: WorkloadReference;
    readonly container: string;
    /** As written in the object. */
    readonly limitWas: string;
    readonly limit: string;
    readonly requestWas?: string;
    readonly request?: string;
  };
}

export interface RolloutRestartStep extends StepBase {
  readonly type: "RolloutRestart";
  readonly rolloutRestart: { readonly workload: WorkloadReference };
}

/** Writes the same value into git, so that the next sync does not take it back. */
export interface LockGitStep extends StepBase {
  readonly type: "LockGit";
  readonly lockGit: {
    readonly repository: string;
    /** What was read. The commit goes to `branch`. */
    readonly baseRef: string;
    readonly branch: string;
    readonly path: string;
    /** Git's own name of the content that was read. Another one by then pauses. */
    readonly blobSha: string;
    /** The whole new file, as base64: the very bytes that are approved. */
    readonly content: string;
    /** The one field that changes. */
    readonly field: string;
    readonly valueWas: string;
    readonly value: string;
  };
}

/** Tells which workloads are stuck and, in `kubectl`, how each is restarted; the guard restarts none of them. */
export interface ListStuckStep extends StepBase {
  readonly type: "ListStuck";
  readonly listStuck: { readonly workloads: readonly WorkloadReference[] };
}

/** Services that must have ready endpoints, and Argo CD Applications that must be compared again. */
export interface VerifyStep extends StepBase {
  readonly type: "Verify";
  readonly verify: {
    readonly endpoints?: readonly ObjectReference[];
    readonly applications?: readonly ObjectReference[];
  };
}

export interface ObjectReference {
  readonly namespace: string;
  readonly name: string;
}
