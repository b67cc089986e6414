/** A Decision without its targets. Open ones come first, those that wait for a person at the top. */
export interface DecisionCard {
  readonly name: string;
  readonly cause: string;
  readonly purpose: string;
  readonly phase: string;
  readonly isOpen: boolean;
  /** Waits for a person's word now. */
  readonly needsPerson: boolean;
  readonly message: string;
  readonly summary: string;
  readonly createdMs: number;
  /** The last change of phase. */
  readonly sinceMs: number;
  readonly planHash: string;
  /** The plan matches its hash. */
  readonly isIntact: boolean;
  readonly evidence: readonly CardEvidence[];
  /** From the root outwards; the page draws them as symptom → … → root. */
  readonly chain: readonly CardEdge[];
  readonly steps: readonly CardStep[];
  /** What can go wrong, and what is still to be done by hand. */
  readonly notes: readonly string[];
  readonly words: readonly CardWord[];
  readonly audit: readonly CardEntry[];
  /** What a person may say now, in the order of the buttons; empty for one that has ended. */
  readonly verdicts: readonly ("approve" | "reject" | "pause" | "resume")[];
  /** The command that shows the same. */
  readonly command: string;
}

export interface CardEvidence {
  readonly fact: string;
  readonly value: number;
  readonly atMs: number;
  readonly detail: string;
}

export interface CardEdge {
  readonly cause: string;
  readonly effect: string;
  readonly rule: string;
  readonly why: string;
}

export interface CardStep {
  readonly id: number;
  readonly action: string;
  readonly title: string;
  /** Its parameters as lines. */
  readonly facts: readonly string[];
  readonly kubectl: readonly string[];
  readonly preconditions: readonly string[];
  readonly check: string;
  readonly phase: "Waiting" | "Running" | "Done" | "Skipped" | "Failed";
  readonly message: string;
}

/** A person's word on it. */
export interface CardWord {
  readonly verdict: string;
  readonly by: string;
  readonly atMs: number;
  readonly reason: string;
  /** Its plan is the present one. */
  readonly isCurrent: boolean;
}

export interface CardEntry {
  readonly atMs: number;
  readonly who: string;
  readonly what: string;
}

/** The viewer types the Decision's name, as on the command line. `planHash` is that of the card he read. */
export interface VerdictRequestBody {
  readonly typedName: string;
  readonly planHash: string;
  readonly reason?: string;
}

export interface VerdictAnswer {
  /** The DecisionApproval that was created, or the one that stood already. */
  readonly approval: string;
  readonly by: string;
  /** What happens next, and how to take it back. */
  readonly text: string;
}
