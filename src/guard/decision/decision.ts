import type { Cause } from "./cause.ts";
import type { DecisionStatus } from "./decision-status.ts";
import type { Step } from "./step.ts";

export const decisionApiVersion = "levee.dev/v1alpha1";

/** What a person approves and the guard then does. `spec` is frozen when it is created; only `status` changes. */
export interface Decision {
  readonly apiVersion: typeof decisionApiVersion;
  readonly kind: "Decision";
  readonly metadata: ObjectMetadata;
  readonly spec: DecisionSpec;
  /** Absent until the guard has written it once. */
  readonly status?: DecisionStatus;
}

export interface ObjectMetadata {
  readonly name: string;
  readonly namespace: string;
  /** Given by the API server, as the next two. */
  readonly uid?: string;
  readonly resourceVersion?: string;
  readonly creationTimestamp?: string;
  readonly labels?: Readonly<Record<string, string>>;
}

export interface DecisionSpec {
  readonly kind: DecisionKind;
  /** What the person is asked, in one sentence. */
  readonly question: string;
  readonly cause: Cause;
  /** The numbers on which the proposal rests. */
  readonly evidence?: readonly Evidence[];
  /** What the guard may do at most, and how much of it was used, at the time of the proposal. */
  readonly limits?: DecisionLimits;
  readonly steps: readonly Step[];
  /** An approval names it; the guard computes it again: `plan-hash.ts`. */
  readonly planHash: string;
  /** An approval that is older than this and has not begun is void. */
  readonly startWithinSeconds: number;
}

/** Q-MR-1 is two Decisions: stop the source, which keeps new members out, and recover, which repairs what they did. */
export type DecisionKind = "StopSource" | "Recover";

/** One number and what it is of. */
export interface Evidence {
  readonly name: string;
  readonly value: number;
  readonly unit?: string;
  readonly node?: string;
  /** RFC 3339. */
  readonly at: string;
}

export interface DecisionLimits {
  readonly podsPerMinute: number;
  readonly podsPerNamespacePerDay: number;
  readonly podsPerDay: number;
  readonly podsToday: number;
  readonly podsInNamespaceToday: number;
  readonly breakerOpen: boolean;
  readonly breakerReason?: string;
}

/** A person's word on a Decision. Its author is who the API server says: an admission policy holds `by` to that. */
export interface DecisionApproval {
  readonly apiVersion: typeof decisionApiVersion;
  readonly kind: "DecisionApproval";
  readonly metadata: ObjectMetadata;
  readonly spec: {
    readonly decision: string;
    readonly decisionUID: string;
    readonly planHash: string;
    readonly verdict: Verdict;
    readonly by: { readonly username: string; readonly groups?: readonly string[]; readonly credentialID?: string };
  };
}

export const verdicts = ["Approve", "Reject", "Pause", "Resume", "ResetBreaker"] as const;

export type Verdict = (typeof verdicts)[number];
