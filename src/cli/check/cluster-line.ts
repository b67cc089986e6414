import { checkCodes, type CheckCode } from "./check-codes.ts";
import type { Unseen } from "../cluster/seen.ts";
import type { Line } from "./line.ts";

/** A line about the cluster: what was looked at has a code, and what was seen stands below it. */
export interface ClusterLine extends Line {
  readonly code: CheckCode;
  /** What each thing that matters showed, by its name. */
  readonly evidence: Evidence;
}

export type Evidence = Readonly<Record<string, string>>;

export interface Category {
  readonly name: string;
  readonly lines: readonly ClusterLine[];
}

export function good(code: CheckCode, detail: string, evidence: Evidence = {}): ClusterLine {
  return line("ok", code, { detail, evidence });
}

export function warning(code: CheckCode, detail: string, evidence: Evidence = {}): ClusterLine {
  return line("warning", code, { detail, evidence });
}

export function failed(code: CheckCode, detail: string, evidence: Evidence = {}): ClusterLine {
  return line("failed", code, { detail, evidence });
}

/** What could not be looked at is not well. What to do about the thing itself is no hint then. */
export function unknown(code: CheckCode, { why, status }: Unseen): ClusterLine {
  const isRefused = status === 401 || status === 403;
  const detail = `not known: ${isRefused ? "this user may not see it (LVE0103)" : why}`;
  return { ...line("warning", code, { detail, evidence: {} }), hint: "" };
}

function line(
  state: Line["state"],
  code: CheckCode,
  { detail, evidence }: { readonly detail: string; readonly evidence: Evidence },
): ClusterLine {
  return { state, code, name: checkCodes[code].title, detail, hint: checkCodes[code].todo, evidence };
}
