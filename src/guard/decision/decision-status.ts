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

/** A Decision in one of these never changes again; the rules of its definition hold that. */
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
  /** Where it is, as `3/7 RemovePods`. */
  readonly step?: string;
  readonly approvedBy?: string;
  /** RFC 3339, as every time here. */
  readonly approvedAt?: string;
  readonly startedAt?: string;
  readonly endedAt?: string;
  /** Under which leadership this was written; an older one's write is refused. */
  readonly fence: Fence;
  readonly intent?: Intent;
  readonly approvals?: readonly ApprovalRecord[];
  readonly steps?: readonly StepStatus[];
}

export interface Fence {
  readonly leader: string;
  /** The Lease's leaseTransitions. */
  readonly transitions: number;
}

/** What the leader is about to do, written before it does it. */
export interface Intent {
  readonly step: number;
  readonly batch: number;
  readonly uids: readonly string[];
  readonly at: string;
}

/** What a person has said, and whether it counted. */
export interface ApprovalRecord {
  readonly name: string;
  readonly uid: string;
  readonly by: string;
  readonly verdict: string;
  readonly at: string;
  readonly accepted: boolean;
  readonly why?: string;
}

export interface StepStatus {
  readonly id: number;
  readonly state: "Waiting" | "DryRun" | "Acting" | "Verifying" | "Done" | "Skipped" | "Failed";
  readonly dryRun?: "Passed" | "Refused";
  readonly verified?: boolean;
  readonly message?: string;
  readonly startedAt?: string;
  readonly endedAt?: string;
  readonly counts?: StepCounts;
  readonly skipped?: readonly SkippedTarget[];
  readonly commit?: string;
}

export interface StepCounts {
  readonly planned: number;
  readonly done: number;
  readonly gone: number;
  readonly replaced: number;
  readonly started: number;
  readonly failed: number;
}

/** A target that was left alone, though it was not gone. */
export interface SkippedTarget {
  readonly uid: string;
  readonly reason: "Replaced" | "Started" | "Owned" | "Mirror" | "Refused";
  readonly message?: string;
}
