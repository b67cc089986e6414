import { lintCodes, type LintCode } from "./lint-codes.ts";
import type { LintObject, LintPlace, LintSpot } from "./lint-objects.ts";

/** `note` tells something that may well be meant; only `error` and `warning` ask for a change. */
export type LintSeverity = "error" | "warning" | "note";

export interface LintFinding {
  readonly code: LintCode;
  readonly severity: LintSeverity;
  readonly object: string;
  readonly message: string;
  /** What to write instead; empty if the message says it all. */
  readonly remedy: string;
  readonly place: LintPlace;
}

interface FindingFacts {
  readonly message: string;
  readonly remedy?: string;
  readonly spot?: LintSpot;
  /** Less than the code's own. */
  readonly severity?: LintSeverity;
}

export function lintFinding(code: LintCode, object: LintObject, facts: FindingFacts): LintFinding {
  return {
    code,
    severity: facts.severity ?? lintCodes[code].severity,
    object: object.title,
    message: facts.message,
    remedy: facts.remedy ?? "",
    place: object.locate(facts.spot ?? { on: "object" }),
  };
}
