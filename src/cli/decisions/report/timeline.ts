import type { Decision, DecisionApproval, DecisionStatus } from "../../../guard/decision/decision.ts";
import { timeMs } from "../../../guard/json-values.ts";
import { md } from "./markdown.ts";
import { askedItems } from "./reboot-chain.ts";

interface Moment {
  readonly at: string;
  /** Markdown. */
  readonly what: string;
}

/** The known events, oldest first, with the cluster's times. */
export function timelineRows(
  decision: Decision,
  approvals: readonly DecisionApproval[],
): readonly (readonly string[])[] {
  const moments = [
    ...askedItems(decision.spec).map(({ since, what, object }) => moment(since, `${md(what)} (${md(object)})`)),
    moment(decision.metadata.creationTimestamp, "The guard proposed it"),
    ...(decision.spec.revisions ?? []).map(({ at, change }) => moment(at, `The guard changed the plan: ${md(change)}`)),
    ...approvals.map(saidMoment),
    ...statusMoments(decision),
  ];
  return moments
    .filter(({ at }) => at !== "")
    .toSorted((left, right) => timeMs(left.at) - timeMs(right.at))
    .map(({ at, what }) => [md(at), what]);
}

function saidMoment({ metadata, spec }: DecisionApproval): Moment {
  const reason = spec.reason === undefined ? "" : `: ${md(spec.reason)}`;
  return moment(metadata.creationTimestamp, `${md(spec.by.username)} said ${spec.verdict}${reason}`);
}

function statusMoments({ status, spec }: Decision): readonly Moment[] {
  if (status === undefined) return [];
  const { approval, startedAt, steps = [], intent, endedAt, phase, message } = status;
  const actionOf = (id: number): string => spec.steps.find((step) => step.id === id)?.action ?? "";
  return [
    ...(approval === undefined ? [] : [moment(approval.at, `The approval ${md(approval.name)} counts from here`)]),
    moment(startedAt, "The first step began"),
    ...phaseMoments(status),
    ...steps.map((step) =>
      moment(step.at, `Step ${step.id}, ${actionOf(step.id)}: ${step.phase}. ${md(step.message)}`),
    ),
    moment(intent?.at, "The last batch was recorded before its removal"),
    moment(endedAt, `It ended: ${phase}. ${md(message)}`),
  ];
}

/**
 * Pauses, and how each ended. The beginning and the end have rows of their own, and a person's word is one already: the
 * row of the guard says what came of it.
 */
function phaseMoments({ audit = [], startedAt }: DecisionStatus): readonly Moment[] {
  const wasPaused = (index: number): boolean => audit[index - 1]?.what.startsWith("Paused: ") === true;
  return audit.flatMap(({ at, what, leader }, index) => {
    const isPause = what.startsWith("Paused: ");
    const isResumed = what.startsWith("Running: ") && (wasPaused(index) || timeMs(at) > timeMs(startedAt) + 1_000);
    return isPause || isResumed ? [moment(at, `${md(what)} (${md(leader)})`)] : [];
  });
}

function moment(at: string | undefined, what: string): Moment {
  return { at: at ?? "", what: what.trim() };
}
