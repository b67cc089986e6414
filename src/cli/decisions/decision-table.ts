import { timeMs } from "../../guard/json-values.ts";
import { decisionPhase } from "../../guard/decide/standing.ts";
import type { Decision } from "../../guard/decision/decision.ts";
import { ageText } from "../terminal/span.ts";
import { renderTable } from "../terminal/table.ts";

/** The columns of `kubectl get decisions`, in the order in which a person should read them. */
export function decisionTable(decisions: readonly Decision[], nowMs: number, isWide: boolean): string {
  const headings = ["NAME", "CAUSE", "PHASE", "STEP", "AGE", "APPROVED-BY", "MESSAGE"];
  const further = ["PURPOSE", "NAMESPACE", "SINCE", "LEADER", "PLAN"];
  return renderTable(
    isWide ? [...headings, ...further] : headings,
    decisions.map((decision) => [...rowOf(decision, nowMs), ...(isWide ? furtherOf(decision, nowMs) : [])]),
  );
}

function rowOf(decision: Decision, nowMs: number): readonly string[] {
  const { metadata, spec, status } = decision;
  return [
    metadata.name,
    spec.cause,
    decisionPhase(decision),
    status?.step ?? "",
    ageText(nowMs - timeMs(metadata.creationTimestamp)),
    status?.approval?.by ?? "",
    status?.message ?? "The guard has not looked at it yet",
  ];
}

function furtherOf({ spec, status }: Decision, nowMs: number): readonly string[] {
  return [
    spec.purpose,
    spec.subject.namespace,
    status === undefined ? "" : ageText(nowMs - timeMs(status.since)),
    status?.leader ?? "",
    spec.planHash,
  ];
}
