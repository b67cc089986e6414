import { oneLine } from "../../base/plain-text.ts";
import { decisionPhase } from "../../guard/decide/standing.ts";
import { terminalPhases, type Decision, type DecisionApproval } from "../../guard/decision/decision.ts";
import { isPlanIntact } from "../../guard/decision/parse-decision.ts";
import { timeMs } from "../../guard/json-values.ts";
import { plural } from "../terminal/plural.ts";
import type { Paint } from "../terminal/paint.ts";
import { ageText } from "../terminal/span.ts";
import { renderTable } from "../terminal/table.ts";
import { stepText } from "./step-text.ts";

interface Shown {
  readonly decision: Decision;
  readonly approvals: readonly DecisionApproval[];
  /** How many pods may be removed now. */
  readonly budget: readonly string[];
  readonly nowMs: number;
  readonly paint: Paint;
}

/** Everything a person needs to approve or reject: the evidence, the plan, and what can go wrong. */
export function decisionText(shown: Shown): string {
  const { decision, paint } = shown;
  const { spec } = decision;
  const parts = [
    headText(shown),
    section(paint, "What was seen", seenText(decision)),
    section(paint, "What follows from it", chainText(decision)),
    section(
      paint,
      `What is proposed: ${spec.purpose}, ${plural(spec.steps.length, "step")} in this order`,
      planText(shown),
    ),
    section(paint, "How the plan changed before anybody approved it", revisionText(decision)),
    section(paint, "What can go wrong, and what you still have to do", bullets(spec.notes)),
    section(paint, "What may be removed", bullets(shown.budget.filter((text) => !spec.notes.includes(text)))),
    section(paint, "Approvals and other verdicts", wordsText(shown)),
    footText(shown),
  ];
  return parts.filter((part) => part !== "").join("\n");
}

/** The steps of the plan. */
function planText({ decision, paint }: Pick<Shown, "decision" | "paint">): string {
  const { spec, status } = decision;
  return spec.steps
    .map((step) =>
      stepText(
        step,
        status?.steps?.find(({ id }) => id === step.id),
        paint,
      ),
    )
    .join("");
}

function headText({ decision, nowMs, paint }: Shown): string {
  const { metadata, spec, status } = decision;
  const phase = decisionPhase(decision);
  const age = ageText(nowMs - timeMs(status?.since ?? metadata.creationTimestamp));
  const step = status?.step === undefined ? "" : `, step ${status.step}`;
  const approved = status?.approval === undefined ? "" : `, approved by ${status.approval.by} at ${status.approval.at}`;
  return [
    `${paint("bold", oneLine(metadata.name))}  ${spec.cause}${placeText(decision)}\n`,
    `${paint(colourOf(decision), phase)} for ${age}${step}${oneLine(approved)}\n`,
    status === undefined || status.message === "" ? "" : `${oneLine(status.message)}\n`,
  ].join("");
}

/** A workload by its name; a cause about nodes has no namespace. */
function placeText({ spec: { cause, subject } }: Decision): string {
  const { namespace, shape } = subject;
  if (cause === "RunawayWorkload") return `: ${oneLine(shape)} in ${oneLine(namespace)}`;
  return namespace === "" ? `: ${oneLine(shape)}` : ` in ${oneLine(namespace)}`;
}

function colourOf(decision: Decision): "green" | "red" | "yellow" {
  const phase = decisionPhase(decision);
  if (phase === "Succeeded" || phase === "Running") return "green";
  return phase === "Failed" || phase === "Paused" ? "red" : "yellow";
}

function seenText({ spec }: Decision): string {
  const rows = spec.evidence.map(({ value, fact, detail }) => `${String(value).padStart(8)}  ${line(fact, detail)}\n`);
  return `  ${oneLine(spec.summary)}\n${rows.join("")}`;
}

function line(fact: string, detail: string): string {
  return oneLine(detail === "" ? fact : `${fact}: ${detail}`);
}

function chainText({ spec }: Decision): string {
  return spec.chain
    .map(
      ({ cause, effect, rule, why }) =>
        `  ${oneLine(cause)}\n    → ${oneLine(effect)}\n      ${oneLine(why)} (${rule})\n`,
    )
    .join("");
}

function revisionText({ spec: { revisions = [] } }: Decision): string {
  return bullets(revisions.map(({ at, change }) => `${at}: ${change}`));
}

function wordsText({ approvals, decision, nowMs }: Shown): string {
  if (approvals.length === 0) return "";
  const rows = approvals.map(({ metadata, spec }) => [
    spec.verdict,
    spec.by.username,
    ageText(nowMs - timeMs(metadata.creationTimestamp)),
    metadata.name,
    isFor(spec, decision) ?? spec.reason ?? "",
  ]);
  const table = renderTable(["VERDICT", "BY", "AGE", "NAME", "REASON"], rows);
  return table.replace(/^/gmu, "  ").replace(/ {2}$/u, "");
}

/** Undefined for a word on this very plan. */
function isFor({ decisionUID, planHash }: DecisionApproval["spec"], { metadata, spec }: Decision): string | undefined {
  if (decisionUID !== metadata.uid) return "for an earlier Decision of this name";
  return planHash === spec.planHash ? undefined : "for an earlier plan, so it does not count";
}

function footText({ decision }: Shown): string {
  const { name } = decision.metadata;
  const { planHash } = decision.spec;
  if (!isPlanIntact(decision))
    return `× The plan does not match its hash ${planHash}, so the guard will not carry it out\n`;
  const hash = `Plan ${planHash} (verified here)\n`;
  switch (decisionPhase(decision)) {
    case "Proposed":
      return `${hash}  levee decisions approve ${name}\n  levee decisions reject ${name}\n`;
    case "Paused":
      return `${hash}  levee decisions resume ${name}\n  levee decisions reject ${name}\n`;
    default:
      return terminalPhases.has(decisionPhase(decision))
        ? `${hash}  levee report ${name}\n`
        : `${hash}  levee decisions pause ${name}\n`;
  }
}

function section(paint: Paint, title: string, text: string): string {
  return text === "" ? "" : `${paint("bold", title)}\n${text}`;
}

function bullets(lines: readonly string[]): string {
  return lines.map((text) => `  - ${oneLine(text)}\n`).join("");
}
