/** The state of the conf by which the runtime finds Levee, for `levee check node`, `/readyz` and metrics. */
export interface ConfDirFacts {
  readonly state: ConfDirState;
  /** The file that the runtime must read; the path is the daemon's. */
  readonly path: string;
  /** Path of the primary network's conf, as the daemon sees it. Undefined while none exists, and for a given conf. */
  readonly primary: string | undefined;
  readonly problems: readonly ConfDirProblem[];
  /** Writes since the daemon started; each one makes the runtime reload its confs. */
  readonly writes: number;
}

/**
 * in-force: the runtime calls Levee. chained: the same, with plugins of others after Levee in the same file.
 * waiting: no primary network exists yet, so no conf is written. shadowed: the runtime reads another file.
 * contested: another program keeps removing the conf, so the daemon leaves it alone. failing: it cannot be written.
 */
export type ConfDirState = "in-force" | "chained" | "waiting" | "shadowed" | "contested" | "failing";

export function isInForce(facts: Pick<ConfDirFacts, "state">): boolean {
  return facts.state === "in-force" || facts.state === "chained";
}

export interface ConfDirProblem {
  readonly kind: ConfDirProblemKind;
  /** `note`: harmless, but worth knowing. `failure`: no pod can start. */
  readonly severity: "note" | "warning" | "failure";
  /** What was seen, and why it matters. */
  readonly message: string;
  /** What to do about it; empty when no action is needed. */
  readonly remedy: string;
}

type ConfDirProblemKind = keyof typeof eventReasons;

/** The reason of the Event on the node, by kind. */
export const eventReasons = {
  "missing-primary": "ConfMissingPrimary",
  "primary-unusable": "ConfPrimaryUnusable",
  "version": "ConfVersionMismatch",
  "tampered": "ConfTampered",
  "shadowed": "ConfShadowed",
  "chained": "ConfChained",
  "chained-twice": "ConfChainedTwice",
  "contested": "ConfContested",
  "unsteady": "ConfUnsteady",
  "unwritable": "ConfUnwritable",
  "given-unusable": "ConfGivenUnusable",
  "foreign-shim": "ConfForeignShim",
  "shim-missing": "ShimMissing",
  "multus-beside": "ConfOfMultusBeside",
} as const;

export function warning(kind: ConfDirProblemKind, message: string, remedy: string): ConfDirProblem {
  return { kind, severity: "warning", message, remedy };
}

export function failure(kind: ConfDirProblemKind, message: string, remedy: string): ConfDirProblem {
  return { kind, severity: "failure", message, remedy };
}

export function note(kind: ConfDirProblemKind, message: string, remedy = ""): ConfDirProblem {
  return { kind, severity: "note", message, remedy };
}

/** The problem and its remedy in one line. */
export function problemText({ message, remedy }: ConfDirProblem): string {
  return remedy === "" ? message : `${message}; ${remedy}`;
}
