import type { Step } from "./step.ts";

export const decisionGroup = "levee.dev";
export const decisionVersion = "v1alpha1";
export const decisionApiVersion = "levee.dev/v1alpha1";

/**
 * A plan that a person approves and the guard carries out. While nobody has approved it, the guard may replace `spec` as
 * a whole; after that the API server refuses every change of it.
 */
export interface Decision {
  readonly apiVersion: typeof decisionApiVersion;
  readonly kind: "Decision";
  readonly metadata: DecisionMetadata;
  readonly spec: DecisionSpec;
  /** Absent until the guard writes it for the first time. */
  readonly status?: DecisionStatus;
}

interface DecisionMetadata {
  readonly name: string;
  readonly namespace: string;
  /** Set by the API server, as are the next two. */
  readonly uid?: string;
  readonly resourceVersion?: string;
  readonly creationTimestamp?: string;
  /** It is deleted and waits for its finalizers. */
  readonly deletionTimestamp?: string;
  readonly labels?: Readonly<Record<string, string>>;
}

/** The kinds of causes. Only the first one removes pods. */
export const decisionCauses = [
  "OwnerlessPodAvalanche",
  "RunawayWorkload",
  "ReservedSandboxNames",
  "RebootBacklog",
  "MemoryNoLongerNeeded",
] as const;

export type DecisionCause = (typeof decisionCauses)[number];

export interface DecisionSpec {
  readonly cause: DecisionCause;
  readonly purpose: DecisionPurpose;
  /** The subject of the cause, by which later rounds find it again. */
  readonly subject: DecisionSubject;
  /** A few sentences for people. */
  readonly summary: string;
  /** What the detector saw at the time. */
  readonly evidence: readonly Evidence[];
  /** The effects of the cause, each edge with its rule. */
  readonly chain: readonly CauseEdge[];
  /** What a person should know before approving: missing facts and risks. */
  readonly notes: readonly string[];
  /** `sha256:` and 64 hexadecimal digits over the plan (`plan-hash.ts`). */
  readonly planHash: string;
  readonly steps: readonly Step[];
  /** How the plan followed the facts before anybody approved it, newest last. Not part of the hash. */
  readonly revisions?: readonly PlanRevision[];
}

/** One change of a plan that nobody had approved yet. */
interface PlanRevision {
  readonly at: string;
  /** The hash of the plan that was replaced: approvals of it are void. */
  readonly planHash: string;
  /** What changed, in words. */
  readonly change: string;
}

/** `ByHand`: only a person may do it; the guard says what, and looks until it is done. `LowerMemory`: the way back. */
export const decisionPurposes = ["StopSource", "Recover", "ByHand", "LowerMemory"] as const;

export type DecisionPurpose = (typeof decisionPurposes)[number];

interface DecisionSubject {
  /** Empty for a cause that is about nodes. */
  readonly namespace: string;
  /** Of an avalanche the shape of its pods (`facts/pod-shape.ts`), of a workload `Job/nightly`, else which nodes. */
  readonly shape: string;
}

/** One number and where it comes from. */
export interface Evidence {
  readonly fact: string;
  readonly value: number;
  /** RFC 3339. */
  readonly at: string;
  /** A cleaned text that may contain words of tenants; empty when the fact is enough. */
  readonly detail: string;
}

/** `effect` follows from `cause` by `rule` (`detect/cause-rules.ts`, `detect/alert-rules.ts`). */
export interface CauseEdge {
  readonly cause: string;
  readonly effect: string;
  readonly rule: string;
  readonly why: string;
}

export const decisionPhases = [
  "Proposed",
  "Approved",
  "Running",
  "Paused",
  "Succeeded",
  "Failed",
  "Expired",
  "Rejected",
  "Superseded",
] as const;

export type DecisionPhase = (typeof decisionPhases)[number];

/** Nothing is broken: a proposal to lower memory may wait for days, holds up no reboot and rings no alert. */
export function canWait({ spec, status }: Decision): boolean {
  return spec.purpose === "LowerMemory" && (status?.phase ?? "Proposed") === "Proposed";
}

/** A Decision in one of these phases never changes again; the CRD enforces this. */
export const terminalPhases: ReadonlySet<DecisionPhase> = new Set<DecisionPhase>([
  "Succeeded",
  "Failed",
  "Expired",
  "Rejected",
  "Superseded",
]);

export interface DecisionStatus {
  readonly phase: DecisionPhase;
  /** Why it is in this phase, or what it waits for. */
  readonly message: string;
  /** `leaseTransitions` of the leader that wrote this; the API server refuses writes of an older leader. */
  readonly fence: number;
  /** `holderIdentity` of that leader. */
  readonly leader: string;
  /** RFC 3339; the last change of phase. */
  readonly since: string;
  /** The current step, such as `3/7 RemovePods`. */
  readonly step?: string;
  /** The approval that counted. */
  readonly approval?: { readonly name: string; readonly by: string; readonly at: string };
  /** RFC 3339; absent until the first step begins. */
  readonly startedAt?: string;
  readonly endedAt?: string;
  readonly intent?: Intent;
  readonly steps?: readonly StepStatus[];
  /** How often another leader went on with it since a person's last word. */
  readonly takeovers?: number;
  /** Its phases so far with their reasons, oldest first. */
  readonly audit?: readonly AuditEntry[];
}

export interface AuditEntry {
  readonly at: string;
  readonly leader: string;
  readonly what: string;
}

/** What the leader is about to do, written before it acts. */
interface Intent {
  readonly step: number;
  readonly batch: number;
  readonly uids: readonly string[];
  readonly at: string;
}

export interface StepStatus {
  readonly id: number;
  readonly phase: "Waiting" | "Running" | "Done" | "Skipped" | "Failed";
  readonly message: string;
  readonly at: string;
  readonly dryRun?: "Passed" | "Refused";
  readonly verified?: boolean;
  /** `removed` and `gone` count the step's targets. */
  readonly removed?: number;
  readonly gone?: number;
  /** Pods that were left alone, each with the reason: replaced under the same name, or started. */
  readonly leftAlone?: readonly string[];
  /** Only for LockToGit. */
  readonly commit?: string;
  /** Lines for a person to type now: the line of a hold, the restarts of stuck workloads. */
  readonly lines?: readonly string[];
  /** Workloads that followed from the cause and that no check of the plan names. Verify looks at them too. */
  readonly followed?: readonly FollowedWorkload[];
}

export interface FollowedWorkload {
  readonly kind: string;
  readonly namespace: string;
  readonly name: string;
}

/** A person's word on a Decision. An admission policy makes sure that `by` is the user who created it. */
export interface DecisionApproval {
  readonly apiVersion: typeof decisionApiVersion;
  readonly kind: "DecisionApproval";
  readonly metadata: DecisionMetadata;
  readonly spec: {
    readonly decision: string;
    readonly decisionUID: string;
    readonly planHash: string;
    readonly verdict: Verdict;
    /** The person's reason; free text. */
    readonly reason?: string;
    readonly by: { readonly username: string; readonly groups?: readonly string[]; readonly credentialID?: string };
  };
}

export const verdicts = ["Approve", "Reject", "Pause", "Resume", "ResetBreaker"] as const;

export type Verdict = (typeof verdicts)[number];
