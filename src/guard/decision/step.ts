/**
 * The steps of a plan: a closed list, each with typed parameters in a member named after its action. No shell, no free
 * text: what a step may do is written here and in the definition of the Decision (`deploy/crd/`), nowhere else.
 */
export const stepActions = [
  "StopSource",
  "HoldArgoApp",
  "RemovePods",
  "SetMemoryLimit",
  "LockToGit",
  "ListStuck",
  "Verify",
] as const;

export type StepAction = (typeof stepActions)[number];

export type Step =
  | StopSourceStep
  | HoldArgoAppStep
  | RemovePodsStep
  | SetMemoryLimitStep
  | LockToGitStep
  | ListStuckStep
  | VerifyStep;

interface StepBase {
  /** Its place in the plan, from 1 on. */
  readonly id: number;
  /** One sentence for people: what is done to what. */
  readonly title: string;
  /** What a person would type to do the same by hand, or to look at it; at least one line. */
  readonly kubectl: readonly string[];
  /** Looked at again just before the step. One that does not hold pauses. */
  readonly preconditions: readonly string[];
  /** Looked at after the step until it holds. When the deadline passes first, that pauses. */
  readonly check: { readonly what: string; readonly deadlineSeconds: number };
}

/** Makes the namespace refuse new pods without an owner. */
export interface StopSourceStep extends StepBase {
  readonly action: "StopSource";
  readonly stopSource: StopSource;
}

/**
 * `Label`: the installed ownerless-pod policy denies in a namespace with this label. `Quota`: only where that policy is
 * not installed; as many pods as the namespace has besides the avalanche, and some headroom.
 */
export type StopSource =
  | { readonly way: "Label"; readonly namespace: string; readonly key: string; readonly value: string }
  | { readonly way: "Quota"; readonly namespace: string; readonly quota: string; readonly pods: number };

/** Waits until Argo CD cannot revert the live change of the next steps. A person makes the hold, by the line printed. */
export interface HoldArgoAppStep extends StepBase {
  readonly action: "HoldArgoApp";
  readonly holdArgoApp: {
    readonly namespace: string;
    readonly application: string;
    /** Argo CD's own, which need not be the Application's. */
    readonly projectNamespace: string;
    readonly project: string;
    /** How long the hold is looked for before the plan pauses. */
    readonly waitSeconds: number;
  };
}

/** Removes pods that never started a container: by UID, in batches, gracefully, and by force only what hangs. */
export interface RemovePodsStep extends StepBase {
  readonly action: "RemovePods";
  readonly removePods: {
    readonly namespace: string;
    /** At once on one node; each removal is a CNI DEL there. */
    readonly batchPerNode: number;
    /** A pod that is still there after this long and still never ran is removed by force. */
    readonly forceAfterSeconds: number;
    /** The avalanche is over, and nothing is removed, when fewer of the targets than this are still Pending. */
    readonly presentMin: number;
  };
  readonly targets: readonly PodTarget[];
}

/** A pod as it was frozen at proposal. Everything else about it is read again just before the step. */
export interface PodTarget {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  readonly node: string;
}

/** Gives a container of a DaemonSet more memory; its controller restarts the pods for it. */
export interface SetMemoryLimitStep extends StepBase {
  readonly action: "SetMemoryLimit";
  readonly setMemoryLimit: {
    readonly kind: "DaemonSet";
    readonly namespace: string;
    readonly name: string;
    readonly uid: string;
    readonly container: string;
    /** As written in the object; empty when it has none. */
    readonly oldLimit: string;
    readonly newLimit: string;
    readonly oldRequest: string;
    readonly newRequest: string;
  };
}

/** Writes the same values into git, so that the next sync does not take them back. */
export interface LockToGitStep extends StepBase {
  readonly action: "LockToGit";
  readonly lockToGit: {
    readonly repository: string;
    /** The branch that was read. The commit goes to `branch`. */
    readonly baseRef: string;
    readonly branch: string;
    readonly path: string;
    /** Git's own name of the file's content that was read. */
    readonly oldBlobSha: string;
    /** Of the content that will be written: the bytes themselves, as they are part of what is approved. */
    readonly newBlobSha: string;
    readonly newBytesSha256: string;
    /** From 0 on. */
    readonly document: number;
    /** Each a JSON pointer into that document. */
    readonly edits: readonly FieldEdit[];
  };
}

export interface FieldEdit {
  readonly pointer: string;
  readonly from: string;
  readonly to: string;
}

/** Tells which workloads are stuck and how each is restarted; the guard restarts none of them. */
export interface ListStuckStep extends StepBase {
  readonly action: "ListStuck";
  readonly listStuck: { readonly workloads: readonly ListedWorkload[]; readonly omitted: number };
}

interface ListedWorkload {
  readonly kind: string;
  readonly namespace: string;
  readonly name: string;
  /** Its pods that are bound and Pending for too long. */
  readonly stuckPods: number;
  readonly kubectl: string;
}

/** Looks whether the cluster has recovered; every check must hold before the deadline. */
export interface VerifyStep extends StepBase {
  readonly action: "Verify";
  readonly verify: { readonly withinSeconds: number; readonly checks: readonly VerifyCheck[] };
}

export type VerifyCheck =
  /** No more than `podsMax` pods of the avalanche's shape are Pending there. */
  | { readonly check: "BacklogGone"; readonly namespace: string; readonly podsMax: number }
  | { readonly check: "DaemonSetReady"; readonly namespace: string; readonly name: string }
  | { readonly check: "DeploymentAvailable"; readonly namespace: string; readonly name: string }
  /** The Service has at least one ready endpoint. */
  | { readonly check: "EndpointsReady"; readonly namespace: string; readonly name: string }
  /** No more than `unknownMax` Applications are Unknown. */
  | { readonly check: "ApplicationsKnown"; readonly unknownMax: number };
