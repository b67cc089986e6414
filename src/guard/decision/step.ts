import type { AskedItem, AskedThing } from "./asked-item.ts";
import type { ScaleOwner } from "./scale-owner.ts";

/**
 * The steps of a plan: a closed list, each with typed parameters in a member named after its action. No shell, no free
 * text: only this file, the two it imports and the CRD (`deploy/crd/`) define what a step may do.
 */
export const stepActions = [
  "StopSource",
  "HoldArgoApp",
  "RemovePods",
  "SetMemoryLimit",
  "LockToGit",
  "ListStuck",
  "RestartWorkload",
  "ScaleOwner",
  "AskPerson",
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
  | RestartWorkloadStep
  | ScaleOwnerStep
  | AskPersonStep
  | VerifyStep;

interface StepBase {
  /** Its position in the plan, starting at 1. */
  readonly id: number;
  /** One sentence for people: the action and its object. */
  readonly title: string;
  /** Lines that a person types to do the same by hand, or to look; at least one. */
  readonly kubectl: readonly string[];
  /** Checked again just before the step; if one does not hold, the plan pauses. */
  readonly preconditions: readonly string[];
  /** Checked after the step until it holds; after the deadline the plan pauses. */
  readonly check: { readonly what: string; readonly deadlineSeconds: number };
}

/** Makes the namespace refuse new pods without an owner. */
export interface StopSourceStep extends StepBase {
  readonly action: "StopSource";
  readonly stopSource: StopSource;
}

/**
 * `Label`: the ownerless-pod policy denies in a namespace with this label. `Quota`: where that policy is not installed or
 * does not cover the source; as many pods as the namespace has outside of the avalanche, plus headroom.
 */
export type StopSource =
  | { readonly way: "Label"; readonly namespace: string; readonly key: string; readonly value: string }
  | { readonly way: "Quota"; readonly namespace: string; readonly quota: string; readonly pods: number };

/** Waits until Argo CD cannot revert the next steps. A person creates the hold with the printed line. */
export interface HoldArgoAppStep extends StepBase {
  readonly action: "HoldArgoApp";
  readonly holdArgoApp: {
    readonly namespace: string;
    readonly application: string;
    /** Argo CD's own namespace, which may differ from the Application's. */
    readonly projectNamespace: string;
    readonly project: string;
    /** How long the plan waits for the hold before it pauses. */
    readonly waitSeconds: number;
  };
}

/** Removes pods that never started a container: by UID, in batches, gracefully, and by force only if they hang. */
export interface RemovePodsStep extends StepBase {
  readonly action: "RemovePods";
  readonly removePods: {
    readonly namespace: string;
    /** How many at once on one node; each removal is a CNI DEL there. */
    readonly batchPerNode: number;
    /** A pod that still exists after this time and never ran is removed by force. */
    readonly forceAfterSeconds: number;
    /** With fewer Pending targets than this the avalanche is over, and nothing is removed. */
    readonly presentMin: number;
  };
  readonly targets: readonly PodTarget[];
}

/** A pod at the time of the proposal. Everything else about it is read again just before the step. */
export interface PodTarget {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  readonly node: string;
}

/** Gives a container of a DaemonSet more memory, or takes back what the guard gave; the controller restarts the pods. */
export interface SetMemoryLimitStep extends StepBase {
  readonly action: "SetMemoryLimit";
  readonly setMemoryLimit: {
    readonly kind: "DaemonSet";
    readonly namespace: string;
    readonly name: string;
    readonly uid: string;
    readonly container: string;
    /** As written in the object; empty when absent. */
    readonly oldLimit: string;
    readonly newLimit: string;
    readonly oldRequest: string;
    readonly newRequest: string;
  };
}

/** Writes the same values into git, so that the next sync does not revert them. */
export interface LockToGitStep extends StepBase {
  readonly action: "LockToGit";
  readonly lockToGit: {
    readonly repository: string;
    /** The branch that was read; the commit goes to `branch`. */
    readonly baseRef: string;
    readonly branch: string;
    readonly path: string;
    /** Git's hash of the file's content that was read. */
    readonly oldBlobSha: string;
    /** The hashes of the new content: the exact bytes are part of what a person approves. */
    readonly newBlobSha: string;
    readonly newBytesSha256: string;
    /** The YAML document's index, starting at 0. */
    readonly document: number;
    /** JSON pointers into that document. */
    readonly edits: readonly FieldEdit[];
  };
}

export interface FieldEdit {
  readonly pointer: string;
  readonly from: string;
  readonly to: string;
}

/** Lists stuck workloads and how to restart each. */
export interface ListStuckStep extends StepBase {
  readonly action: "ListStuck";
  readonly listStuck: { readonly workloads: readonly ListedWorkload[]; readonly omitted: number };
}

interface ListedWorkload {
  readonly kind: string;
  readonly namespace: string;
  readonly name: string;
  /** Its pods that have been bound and Pending for too long. */
  readonly stuckPods: number;
  readonly kubectl: string;
}

/** Restarts one workload that is still stuck by then, with the annotation of `kubectl rollout restart`. */
export interface RestartWorkloadStep extends StepBase {
  readonly action: "RestartWorkload";
  readonly restartWorkload: {
    readonly kind: RestartableKind;
    readonly namespace: string;
    readonly name: string;
    readonly uid: string;
    /** Why it has its place in the order, for people. */
    readonly place: string;
  };
}

export const restartableKinds = ["DaemonSet", "StatefulSet", "Deployment"] as const;
export type RestartableKind = (typeof restartableKinds)[number];

/** Makes the owner of a backlog smaller, or suspends it. Its own controller removes the pods. */
export interface ScaleOwnerStep extends StepBase {
  readonly action: "ScaleOwner";
  readonly scaleOwner: ScaleOwner;
}

/** Shows a person what only a person may do, and waits until the cluster shows that it is done. */
export interface AskPersonStep extends StepBase {
  readonly action: "AskPerson";
  readonly askPerson: {
    readonly about: AskedThing;
    readonly items: readonly AskedItem[];
    /** How many did not fit. */
    readonly omitted: number;
  };
}

/** Checks whether the cluster has recovered; every check must hold before the deadline. */
export interface VerifyStep extends StepBase {
  readonly action: "Verify";
  readonly verify: {
    readonly withinSeconds: number;
    /** RFC 3339; when the cause began. What stops starting after it counts too, although no check names it yet. */
    readonly since?: string;
    readonly checks: readonly VerifyCheck[];
  };
}

export type VerifyCheck =
  /** No more than `podsMax` pods of the avalanche's shape are Pending there. */
  | { readonly check: "BacklogGone"; readonly namespace: string; readonly podsMax: number }
  | { readonly check: "DaemonSetReady"; readonly namespace: string; readonly name: string }
  | { readonly check: "DeploymentAvailable"; readonly namespace: string; readonly name: string }
  | { readonly check: "StatefulSetReady"; readonly namespace: string; readonly name: string }
  /** So long after the change none of its pods was killed for memory, and none comes close to the limit. */
  | {
      readonly check: "MemoryEnough";
      readonly namespace: string;
      readonly name: string;
      readonly forSeconds: number;
    }
  /** The Service has at least one ready endpoint. */
  | { readonly check: "EndpointsReady"; readonly namespace: string; readonly name: string }
  /** No more than `unknownMax` Applications are Unknown. */
  | { readonly check: "ApplicationsKnown"; readonly unknownMax: number }
  /** A URL of the site, asked from the guard's node. */
  | { readonly check: "UrlAnswers"; readonly url: string; readonly status: number }
  /** The probes of blackbox-exporter, as Prometheus has them. */
  | { readonly check: "ProbesSucceed" };
