import { firstChars } from "../../base/short-text.ts";
import type { AuditEntry, DecisionStatus } from "./decision.ts";
import { auditCharsMax, auditMax } from "./limits.ts";

/**
 * Adds a change of phase or of leader to the status' own record: a later status no longer has the reason of a pause that
 * has ended, and a report tells every one of them.
 */
export function withAudit(before: DecisionStatus | undefined, after: DecisionStatus, at: string): DecisionStatus {
  const isTakenOver = (after.takeovers ?? 0) > (before?.takeovers ?? 0);
  if (before?.phase === after.phase && !isTakenOver) return after;
  const what = firstChars(`${after.phase}: ${after.message}`, auditCharsMax);
  const entry: AuditEntry = { at, leader: after.leader, what };
  return { ...after, audit: [...(before?.audit ?? []), entry].slice(-auditMax) };
}
