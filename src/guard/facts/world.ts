import type { RebootGate } from "../../wire/reboot-gate.ts";
import type { Decision } from "../decision/decision.ts";
import type { ClusterPod } from "./cluster-pod.ts";
import type { Dependency } from "./depended-on.ts";
import type { MemoryCalm } from "./memory-calm.ts";
import type { MemoryMark } from "./memory-mark.ts";
import type { MemoryPast, PodUse } from "./memory-past.ts";
import type { OwnerFacts, OwnerMarks } from "./owner-facts.ts";

/** Everything the guard knows at one moment. Detection and decision depend on nothing else. */
export interface World {
  readonly nowMs: number;
  /** How long a bound pod may wait before it is stuck, where the guard was told so. */
  readonly stuckAfterMs?: number;
  /** Iterated several times. */
  readonly pods: Iterable<ClusterPod>;
  readonly nodes: readonly NodeFacts[];
  readonly namespaces: readonly NamespaceFacts[];
  readonly daemonSets: readonly DaemonSetFacts[];
  readonly deployments: readonly DeploymentFacts[];
  readonly statefulSets?: readonly StatefulSetFacts[];
  /** Absent while they cannot be read: then nothing is proposed about owners. */
  readonly owners?: OwnerFacts;
  readonly services: readonly ServiceFacts[];
  readonly events: readonly EventFacts[];
  /** Kubelet's words that it tries to remove a sandbox: `FailedKillPod` and `SandboxChanged`. */
  readonly removalEvents?: readonly EventFacts[];
  /** `applications` and `projects` are empty where Argo CD is not installed. */
  readonly applications: readonly ApplicationFacts[];
  readonly projects: readonly ProjectFacts[];
  readonly alerts: readonly AlertFacts[];
  /** Why nobody can say which alerts fire, where an Alertmanager is set; absent when it was read lately. */
  readonly alertsUnread?: string;
  readonly nodeViews: readonly NodeViewFacts[];
  /** What stands about each node that waits for a reboot; empty without a gate, absent while the gates cannot be read. */
  readonly rebootGates?: readonly RebootGate[] | undefined;
  readonly decisions: readonly Decision[];
  /** The ownerless-pod policy and the binding that denies by label are installed. */
  readonly isOwnerPolicyInstalled: boolean;
  /** The files in git that hold memory limits; empty where no repository is configured or readable. */
  readonly gitFiles: readonly GitFileFacts[];
  /** The sources of Applications that could not be read from git. */
  readonly gitProblems?: readonly GitSourceProblem[];
  /** Who others depend on, as far as objects show it. */
  readonly dependencies?: readonly Dependency[];
  /** How calm the containers are whose memory the guard has raised; absent while it is not known yet. */
  readonly memoryCalms?: readonly MemoryCalm[] | undefined;
  /** What Prometheus has of those containers, and what their pods use while less memory is tried. */
  readonly memoryPasts?: readonly MemoryPast[];
  readonly memoryUses?: readonly PodUse[];
  /** Notes for every proposal: the removal limits, how much of them is used, whether the breaker is open. */
  readonly notes: readonly string[];
}

export interface NodeFacts {
  readonly name: string;
  readonly isReady: boolean;
  /** Allocatable memory; 0 when unknown. */
  readonly memoryBytes: number;
  /** The internal IP address; empty when it has none. */
  readonly address: string;
  /** When the condition Ready last changed; absent when unknown. */
  readonly readyChangedMs?: number;
  /** When it joined the cluster; absent when unknown. */
  readonly createdMs?: number;
  /** `spec.unschedulable`. */
  readonly isCordoned?: true;
  /** When the taint of a cordon was added; absent when unknown. */
  readonly cordonedMs?: number;
  readonly isControlPlane?: true;
  /** The annotation of the reboot gate, as written; absent without one. */
  readonly gateAnnotation?: string;
  /** Another one means that the node was started again. */
  readonly bootId?: string;
}

export interface NamespaceFacts {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  /** When the label that refuses ownerless pods was last written, by managedFields; 0 when unknown. */
  readonly labelledMs?: number;
}

export interface DaemonSetFacts {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  readonly desired: number;
  readonly ready: number;
  readonly containers: readonly ContainerFacts[];
  /** The Argo CD Application in the tracking annotation, if that annotation is about this object; else empty. */
  readonly trackedBy: string;
  /** The label `app.kubernetes.io/instance`: Argo CD's older mark, and just as often a Helm release. */
  readonly instance: string;
  /** Strategy OnDelete: a change restarts nothing until the pods are deleted. */
  readonly updatesOnDelete: boolean;
  readonly attachedVolume?: string;
  /** The annotation in which kured keeps its lock, as written; absent without a lock. */
  readonly kuredLock?: string;
  /** It registers a CSI driver with the kubelet. */
  readonly csi?: Dependency;
  /** By container: the guard has set its memory, and nobody has changed it since. */
  readonly memoryMarks?: Readonly<Record<string, MemoryMark>>;
}

/** Quantities as written; empty when absent. */
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
  readonly uid?: string;
  /** The name of a volume that is attached to the nodes of its pods (`attached-volume.ts`); absent without one. */
  readonly attachedVolume?: string;
  /** Paused: a new template starts no pod. */
  readonly isPaused?: true;
  /** Who would put a change back. */
  readonly marks?: OwnerMarks;
}

export interface StatefulSetFacts {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  readonly attachedVolume?: string;
  readonly updatesOnDelete: boolean;
}

/** A Service with a selector, and how many of its endpoints are ready. */
export interface ServiceFacts {
  readonly namespace: string;
  readonly name: string;
  readonly readyEndpoints: number;
}

/** An Event without its message: that is tenants' text, and nothing is done because of it alone. */
export interface EventFacts {
  readonly namespace: string;
  readonly name: string;
  readonly reason: string;
  readonly node: string;
  readonly podUid: string;
  readonly count: number;
  readonly lastMs: number;
  /** When kubelet first said it; absent when unknown. */
  readonly firstMs?: number;
  /** The ID of the sandbox that has the name, as the message says; for display only. */
  readonly sandbox?: string;
  /** The message says that the sandbox's name is taken. For display only: any writer of events can claim this. */
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
  /** `namespace/name` of this cluster's CNI DaemonSets in its `status.resources`. */
  readonly owns: readonly string[];
}

export interface ApplicationSource {
  readonly repository: string;
  readonly path: string;
  readonly revision: string;
  /** False for Helm, Kustomize and several sources: the guard cannot know which file holds a field. */
  readonly isPlain: boolean;
  /** Includes the folders below its path. */
  readonly isRecursive?: true;
}

export interface ProjectFacts {
  readonly namespace: string;
  readonly name: string;
  readonly syncWindows: readonly SyncWindow[];
  /** Patterns of further namespaces in which its Applications may be. */
  readonly sourceNamespaces: readonly string[];
}

/** As in `spec.syncWindows` of an AppProject. */
export interface SyncWindow {
  readonly kind: string;
  readonly schedule: string;
  readonly duration: string;
  readonly timeZone: string;
  readonly applications: readonly string[];
  /** The window applies only where its applications, namespaces and clusters all match. */
  readonly needsAll: boolean;
}

/** A firing alert. Its labels may hold tenants' text, so alerts explain a cause and no decision depends on them. */
export interface AlertFacts {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly startsMs: number;
}

/** What a node's daemon last answered about itself; fields without an answer are absent. */
export interface NodeViewFacts {
  readonly node: string;
  /** When it answered, by the guard's clock. */
  readonly atMs: number;
  /** Calls that wait for a slot. */
  readonly waiting: number;
  /** Calls that hold a slot. */
  readonly running: number;
  readonly leaks: number;
  readonly memoryBytes?: number;
  readonly memoryLimitBytes?: number;
  /** Processes OOM-killed in its cgroup. */
  readonly oomKills?: number;
  /** Time since the older of its two watches (pods, networks) last heard anything. */
  readonly watchAgeMs?: number;
  /** The node itself has a mark that asks for a reboot; undefined while nobody has looked. */
  readonly isRebootRequired?: boolean;
  /** Since when, by the node's clock; only where a reboot is required. */
  readonly rebootRequiredSinceMs?: number;
}

export interface GitFileFacts {
  /** `repository` and `revision` as the Application has them. */
  readonly repository: string;
  readonly revision?: string;
  /** The branch the file was read from. */
  readonly ref: string;
  readonly path: string;
  readonly blobSha: string;
  readonly bytes: Uint8Array;
  /** The settings ask for commits on this branch itself. */
  readonly isDirect?: true;
}

export interface GitSourceProblem {
  readonly repository: string;
  readonly revision: string;
  readonly path: string;
  readonly problem: string;
}
