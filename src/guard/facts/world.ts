import type { Decision } from "../decision/decision.ts";
import type { PodRecord } from "./pod-record.ts";

/** Everything the guard knows at one moment. Detection and decision are functions of it alone. */
export interface World {
  readonly nowMs: number;
  /** How long a bound pod may wait before it is stuck, where the guard was told so. */
  readonly stuckAfterMs?: number;
  /** Walked over several times. */
  readonly pods: Iterable<PodRecord>;
  readonly nodes: readonly NodeFacts[];
  readonly namespaces: readonly NamespaceFacts[];
  readonly daemonSets: readonly DaemonSetFacts[];
  readonly deployments: readonly DeploymentFacts[];
  readonly services: readonly ServiceFacts[];
  readonly events: readonly EventFacts[];
  /** Empty where Argo CD's definitions are not installed, as the next. */
  readonly applications: readonly ApplicationFacts[];
  readonly projects: readonly ProjectFacts[];
  readonly alerts: readonly AlertFacts[];
  readonly nodeViews: readonly NodeViewFacts[];
  readonly decisions: readonly Decision[];
  /** The ownerless-pod policy and the binding that denies by label are installed. */
  readonly isOwnerPolicyInstalled: boolean;
  /** What git has of the files that hold memory limits; empty where no repository is configured or it cannot be read. */
  readonly gitFiles: readonly GitFileFacts[];
  /** Why git could not be read for what an Application is made of. */
  readonly gitProblems?: readonly GitSourceProblem[];
  /** What every proposal has to say: the limits, how much of them is used, whether the breaker is open. */
  readonly notes: readonly string[];
}

export interface NodeFacts {
  readonly name: string;
  readonly isReady: boolean;
  /** Allocatable; 0 when unknown. */
  readonly memoryBytes: number;
  /** The internal IP address; empty when it has none. */
  readonly address: string;
}

export interface NamespaceFacts {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  /** When the label that refuses ownerless pods was last written, as far as the server remembers; 0 when not known. */
  readonly labelledMs?: number;
}

export interface DaemonSetFacts {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  readonly desired: number;
  readonly ready: number;
  readonly containers: readonly ContainerFacts[];
  /** The Argo CD Application that the tracking annotation names, if it is about this very object; else empty. */
  readonly trackedBy: string;
  /** The label `app.kubernetes.io/instance`: Argo CD's mark in its older way, and just as often a release of Helm. */
  readonly instance: string;
  /** Its pods are made anew only when somebody deletes them: a change of it restarts nothing. */
  readonly updatesOnDelete: boolean;
}

/** Quantities as written; empty where there is none. */
export interface ContainerFacts {
  readonly name: string;
  readonly memoryLimit: string;
  readonly memoryRequest: string;
}

export interface DeploymentFacts {
  readonly namespace: string;
  readonly name: string;
  readonly desired: number;
  readonly available: number;
}

/** A Service with a selector, and how many of its endpoints are ready. */
export interface ServiceFacts {
  readonly namespace: string;
  readonly name: string;
  readonly readyEndpoints: number;
}

/** An Event by who made it and of what; its message is a tenant's text and is not kept for deciding. */
export interface EventFacts {
  readonly namespace: string;
  readonly name: string;
  readonly reason: string;
  readonly node: string;
  readonly podUid: string;
  readonly count: number;
  readonly lastMs: number;
  /** Its message says that the sandbox's name is taken. Anybody who may write events can say so: told, never decided on. */
  readonly isNameReserved?: true;
}

export interface ApplicationFacts {
  readonly namespace: string;
  readonly name: string;
  readonly project: string;
  /** `Synced`, `OutOfSync`, `Unknown`. */
  readonly sync: string;
  /** When a ComparisonError began; 0 when there is none. */
  readonly comparisonErrorMs: number;
  readonly isAutomated: boolean;
  readonly skipsReconcile: boolean;
  readonly source: ApplicationSource;
  /** `namespace/name` of those CNI DaemonSets of this cluster that its `status.resources` lists. */
  readonly owns: readonly string[];
}

export interface ApplicationSource {
  readonly repository: string;
  readonly path: string;
  readonly revision: string;
  /** Helm, Kustomize and several sources: the file cannot be guessed. */
  readonly isPlain: boolean;
  /** Folders below its path belong to it. */
  readonly isRecursive?: true;
}

export interface ProjectFacts {
  readonly namespace: string;
  readonly name: string;
  readonly syncWindows: readonly SyncWindow[];
  /** Where else than beside the project its Applications may be, as patterns. */
  readonly sourceNamespaces: readonly string[];
}

/** As in `spec.syncWindows` of an AppProject. */
export interface SyncWindow {
  readonly kind: string;
  readonly schedule: string;
  readonly duration: string;
  readonly timeZone: string;
  readonly applications: readonly string[];
  /** It holds only where its applications, namespaces and clusters all match. */
  readonly needsAll: boolean;
}

/** A firing alert. Its labels may hold tenants' text; it explains, and nothing is decided on it. */
export interface AlertFacts {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly startsMs: number;
}

/** What a node's daemon says of itself. What it did not say is absent. */
export interface NodeViewFacts {
  readonly node: string;
  /** When it said so, by our own clock. */
  readonly atMs: number;
  /** Calls that wait for a slot, and that hold one. */
  readonly waiting: number;
  readonly running: number;
  readonly leaks: number;
  readonly memoryBytes?: number;
  readonly memoryLimitBytes?: number;
  /** Processes killed in its own cgroup. */
  readonly oomKills?: number;
  /** Since it last heard of pods or networks, whichever is longer ago. */
  readonly watchAgeMs?: number;
}

export interface GitFileFacts {
  /** As the Application says it, as the revision. */
  readonly repository: string;
  readonly revision?: string;
  /** The branch that this is. */
  readonly ref: string;
  readonly path: string;
  readonly blobSha: string;
  readonly bytes: Uint8Array;
  /** The settings want commits on this very branch. */
  readonly isDirect?: true;
}

export interface GitSourceProblem {
  readonly repository: string;
  readonly revision: string;
  readonly path: string;
  readonly problem: string;
}
