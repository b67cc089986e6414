/** How it stands with the conf by which the runtime finds us, for `levee check node`, `/readyz` and metrics. */
export interface ConfDirFacts {
  readonly state: ConfDirState;
  /** The file that the runtime is to read, as the daemon sees it. */
  readonly path: string;
  /** The primary network's conf, as the daemon sees it; undefined while there is none, and when the conf was given to us. */
  readonly primary: string | undefined;
  readonly problems: readonly ConfDirProblem[];
  /** How often it was written since the daemon started; the runtime loads its confs again each time. */
  readonly writes: number;
}

/**
 * in-force: the runtime calls us. chained: the same, and plugins of others come after us in the same file.
 * waiting: there is no primary network yet, so there is no conf. shadowed: the runtime reads another file.
 * contested: somebody removes the conf again and again, and it was left alone. failing: it cannot be written.
 */
export type ConfDirState = "in-force" | "chained" | "waiting" | "shadowed" | "contested" | "failing";

/** Whether the runtime calls us as things stand. */
export function isInForce(facts: Pick<ConfDirFacts, "state">): boolean {
  return facts.state === "in-force" || facts.state === "chained";
}

export interface ConfDirProblem {
  readonly kind: ConfDirProblemKind;
  /** `note`: right as it is, but worth knowing. `failure`: no pod can start as it is. */
  readonly severity: "note" | "warning" | "failure";
  /** What is so, and why that matters. */
  readonly message: string;
  /** What to do about it; empty when there is nothing to do. */
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

/** For people: the problem, and what to do about it. */
export function problemText({ message, remedy }: ConfDirProblem): string {
  return remedy === "" ? message : `${message}; ${remedy}`;
}
