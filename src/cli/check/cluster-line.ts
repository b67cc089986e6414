import { checkCodes, type CheckCode } from "./check-codes.ts";
import type { Unseen } from "../cluster/seen.ts";
import type { CheckLine } from "./check-line.ts";

/** A check of the cluster. It has a code, and evidence below the line. */
export interface ClusterLine extends CheckLine {
  readonly code: CheckCode;
  /** What was seen, by the name of the thing. */
  readonly evidence: LineEvidence;
}

export type LineEvidence = Readonly<Record<string, string>>;

export interface Category {
  readonly name: string;
  readonly lines: readonly ClusterLine[];
}

export function goodLine(code: CheckCode, detail: string, evidence: LineEvidence = {}): ClusterLine {
  return line("ok", code, { detail, evidence });
}

export function warningLine(code: CheckCode, detail: string, evidence: LineEvidence = {}): ClusterLine {
  return line("warning", code, { detail, evidence });
}

export function failedLine(code: CheckCode, detail: string, evidence: LineEvidence = {}): ClusterLine {
  return line("failed", code, { detail, evidence });
}

/** Of a check whose facts the API server does not show this user. */
export const refusedDetail = "not known: this user may not see it (LVE0103)";

/** A check that could not run is a warning. The code's own hint does not apply then. */
export function unknownLine(code: CheckCode, { why, status }: Unseen): ClusterLine {
  const isRefused = status === 401 || status === 403;
  const detail = isRefused ? refusedDetail : `not known: ${why}`;
  return { ...line("warning", code, { detail, evidence: {} }), hint: "" };
}

function line(
  state: CheckLine["state"],
  code: CheckCode,
  { detail, evidence }: { readonly detail: string; readonly evidence: LineEvidence },
): ClusterLine {
  return { state, code, name: checkCodes[code].title, detail, hint: checkCodes[code].todo, evidence };
}
