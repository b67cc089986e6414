import type { Step } from "./step.ts";

export const decisionGroup = "levee.dev";
export const decisionVersion = "v1alpha1";
export const decisionApiVersion = "levee.dev/v1alpha1";

/** What a person approves and the guard then does. `spec` is frozen when it is created; only `status` changes. */
export interface Decision {
  readonly apiVersion: typeof decisionApiVersion;
  readonly kind: "Decision";
  readonly metadata: DecisionMetadata;
  readonly spec: DecisionSpec;
  /** Absent until the guard has written it once. */
  readonly status?: DecisionStatus;
}

interface DecisionMetadata {
  readonly name: string;
  readonly namespace: string;
  /** Given by the API server, as the next two. */
  readonly uid?: string;
  readonly resourceVersion?: string;
  readonly creationTimestamp?: string;
  /** Somebody has deleted it, and it waits for its finalizers. */
  readonly deletionTimestamp?: string;
  readonly labels?: Readonly<Record<string, string>>;
}

export interface DecisionSpec {
  /** The kind of cause. */
  readonly cause: "OwnerlessPodAvalanche";
  readonly purpose: DecisionPurpose;
  /** What the cause is about, by which a later look finds it again. */
  readonly subject: DecisionSubject;
  /** A few sentences for people. */
  readonly summary: string;
  /** What the detector saw, frozen. */
  readonly evidence: readonly Evidence[];
  /** What followed from the cause, each edge with the rule that says so. */
  readonly chain: readonly CauseEdge[];
  /** What a person should know before approving: what is missing, what can go wrong. */
  readonly notes: readonly string[];
  /** `sha256:` and 64 hexadecimal digits over the plan: see `plan-hash.ts`. */
  readonly planHash: string;
  readonly steps: readonly Step[];
}

/** Q-MR-1 is two Decisions: stop the source, and recover. */
export type DecisionPurpose = "StopSource" | "Recover";

interface DecisionSubject {
  readonly namespace: string;
  /** Of the set of pods: see `detect/pod-shape.ts`. */
  readonly shape: string;
}

/** One number and where it comes from. */
export interface Evidence {
  readonly fact: string;
  readonly value: number;
  /** RFC 3339. */
  readonly at: string;
  /** In words, cleaned: it may contain what tenants wrote. Empty when the fact says it all. */
  readonly detail: string;
}

/** `effect` follows from `cause`, because of `rule` (`detect/cause-rules.ts`). */
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

/** A Decision in one of these never changes again; the definition's own rules hold that. */
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
  /** `leaseTransitions` of the leader that wrote this; an older leader's write is refused. */
  readonly fence: number;
  /** `holderIdentity` of that leader. */
  readonly leader: string;
  /** RFC 3339, of the last change of phase. */
  readonly since: string;
  /** Where it is, as `3/7 RemovePods`. */
  readonly step?: string;
  /** The one that counted. */
  readonly approval?: { readonly name: string; readonly by: string; readonly at: string };
  /** RFC 3339; absent until the first step began. */
  readonly startedAt?: string;
  readonly endedAt?: string;
  readonly intent?: Intent;
  readonly steps?: readonly StepStatus[];
}

/** What the leader is about to do, written before it does it. */
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
  /** Of the step's targets. */
  readonly removed?: number;
  readonly gone?: number;
  /** Replaced by a pod of the same name, or started meanwhile: left alone and reported, with the reason. */
  readonly leftAlone?: readonly string[];
  /** Of LockToGit. */
  readonly commit?: string;
  /** What a person may type now, as the step found it: the line of a hold, the restarts of what is stuck. */
  readonly lines?: readonly string[];
}

/** A person's word on a Decision. Its author is who the API server says: an admission policy holds `by` to that. */
export interface DecisionApproval {
  readonly apiVersion: typeof decisionApiVersion;
  readonly kind: "DecisionApproval";
  readonly metadata: DecisionMetadata;
  readonly spec: {
    readonly decision: string;
    readonly decisionUID: string;
    readonly planHash: string;
    readonly verdict: Verdict;
    /** What the person gave as the reason; anybody's text. */
    readonly reason?: string;
    readonly by: { readonly username: string; readonly groups?: readonly string[]; readonly credentialID?: string };
  };
}

export const verdicts = ["Approve", "Reject", "Pause", "Resume", "ResetBreaker"] as const;

export type Verdict = (typeof verdicts)[number];
