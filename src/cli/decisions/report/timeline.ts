import type { Decision, DecisionApproval } from "../../../guard/decision/decision.ts";
import { timeMs } from "../../../guard/json-values.ts";
import { md } from "./markdown.ts";

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
    moment(decision.metadata.creationTimestamp, "The guard proposed it"),
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
    ...steps.map((step) =>
      moment(step.at, `Step ${step.id}, ${actionOf(step.id)}: ${step.phase}. ${md(step.message)}`),
    ),
    moment(intent?.at, "The last batch was recorded before its removal"),
    moment(endedAt, `It ended: ${phase}. ${md(message)}`),
  ];
}

function moment(at: string | undefined, what: string): Moment {
  return { at: at ?? "", what: what.trim() };
}
