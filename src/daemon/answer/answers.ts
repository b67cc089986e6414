import type { AttachmentRecord } from "../../state/journal/attachment-record.ts";
import type { Journal } from "../../state/journal/journal.ts";
import { leakView, quarantineView, recorderView, recordView } from "../../state/journal/record-view.ts";
import type {
  AttachmentsAnswer,
  AttachmentView,
  ChecksAnswer,
  GcAnswer,
  LeaksAnswer,
  NetworkReadyView,
  NodeAnswer,
  Question,
  TimelineAnswer,
} from "../../wire/node-view.ts";
import type { DryRunAnswer } from "../../wire/dry-run.ts";
import type { TopAnswer } from "../../wire/top-view.ts";
import type { SelfGc } from "../collect/self-gc.ts";
import type { NodeChecks } from "../health/node-checks.ts";
import type { CallMetrics } from "../metrics/call-metrics.ts";
import type { Recorder } from "../record/recorder.ts";
import type { Recovery } from "../undo/recovery.ts";
import { changeLeaks, type ChangeLeaksNeeds } from "./change-leaks.ts";
import { beginningOf, pageOf } from "./page.ts";
import { parseQuestion } from "./parse-question.ts";
import { podNow, type PodNowNeeds } from "./pod-now.ts";
import { phaseOf } from "./record-phase.ts";
import { nodeAnswer, noticesMax, type NodeAnswerNeeds, type ThisNode } from "./node-answer.ts";
import { topAnswer, type TopNeeds } from "./top-answer.ts";

type AnyAnswer =
  | AttachmentsAnswer
  | TimelineAnswer
  | LeaksAnswer
  | NodeAnswer
  | ChecksAnswer
  | GcAnswer
  | DryRunAnswer
  | TopAnswer;

interface AnswerNeeds {
  readonly attachments: AttachmentsNeeds;
  readonly timeline: TimelineNeeds;
  readonly leaks: ChangeLeaksNeeds;
  readonly gc: Pick<SelfGc, "answer" | "ask">;
  readonly node: NodeAnswerNeeds;
  readonly checks: ChecksNeeds;
  readonly top: TopNeeds;
  readonly dryRuns: {
    begin(namespace: string, name: string): Promise<DryRunAnswer>;
    answer(id: string): Promise<DryRunAnswer>;
  };
}

/** Answers a command's question about this node, from memory except for timelines and changes of the leak ledger. */
export function answerQuestion(text: string, needs: AnswerNeeds): AnyAnswer | Promise<AnyAnswer> {
  const question = parseQuestion(text);
  switch (question.ask) {
    case "attachments":
      return attachmentsAnswer(question.after, needs.attachments);
    case "timeline":
      return timelineAnswer(question, needs.timeline);
    case "leaks":
      return answerLeaks(question, needs.leaks);
    case "gc":
      return gcAnswer(question, needs.gc);
    case "node":
      return nodeAnswer(needs.node);
    case "checks":
      return checksAnswer(needs.checks);
    case "dry-run":
      return "id" in question
        ? needs.dryRuns.answer(question.id)
        : needs.dryRuns.begin(question.run.namespace, question.run.name);
    case "top":
      return topAnswer(needs.top);
  }
}

export interface AttachmentsNeeds {
  readonly journal: Pick<Journal, "all">;
  readonly recovery: Pick<Recovery, "isPending" | "isDeletePending">;
}

function attachmentsAnswer(after: string | undefined, { journal, recovery }: AttachmentsNeeds): AttachmentsAnswer {
  const { rows, ...end } = pageOf(journal.all(), {
    after,
    keyOf: ({ token }) => token,
    viewOf: (record) => attachmentView(record, recovery),
  });
  return { attachments: rows, ...end };
}

export function attachmentView(record: AttachmentRecord, recovery: AttachmentsNeeds["recovery"]): AttachmentView {
  return { ...recordView(record), phase: phaseOf(record, recovery) };
}

export interface TimelineNeeds extends PodNowNeeds {
  readonly recorder: Pick<Recorder, "of" | "notice">;
  readonly sourceNotices: ThisNode["sourceNotices"];
}

/** The entries come from the flight recorder's files, the pod's present state from memory. */
export async function timelineAnswer(
  { namespace, name }: { readonly namespace: string; readonly name: string },
  needs: TimelineNeeds,
): Promise<TimelineAnswer> {
  const { recorder, sourceNotices } = needs;
  const kept = await recorder.of(namespace, name);
  const entries = kept.entries.map(recorderView);
  const { notice } = recorder;
  const notices = [...(notice === undefined ? [] : [notice]), ...sourceNotices()].slice(0, noticesMax);
  const now = await podNow({ namespace, name }, entries, needs);
  return {
    namespace,
    name,
    entries,
    ...(notices.length === 0 ? {} : { notices }),
    ...(kept.omitted === 0 ? {} : { omitted: kept.omitted }),
    ...(now === undefined ? {} : { now }),
  };
}

function answerLeaks(
  question: Extract<Question, { readonly ask: "leaks" }>,
  needs: ChangeLeaksNeeds,
): LeaksAnswer | Promise<LeaksAnswer> {
  return question.forget === undefined && question.retry === undefined
    ? leaksAnswer(question, needs)
    : changeLeaks(question, needs).then(() => leaksAnswer(question, needs));
}

function leaksAnswer({ after }: { readonly after?: string }, { journal }: ChangeLeaksNeeds): LeaksAnswer {
  const { rows, ...end } = pageOf(journal.leaks(), { after, keyOf: ({ id }) => id, viewOf: leakView });
  return { leaks: rows, quarantined: journal.quarantined().map(quarantineView), ...end };
}

/** Nine digits are enough for any finding of a round. */
const findingDigits = 9;

function gcAnswer(
  { run, after }: Extract<Question, { readonly ask: "gc" }>,
  gc: Pick<SelfGc, "answer" | "ask">,
): GcAnswer {
  const answer = gc.answer(run === undefined ? undefined : gc.ask(run));
  const { findings } = answer;
  if (after === undefined) {
    const shown = beginningOf(findings);
    const more = findings.length - shown.length;
    const notes = more === 0 ? answer.notes : [...answer.notes, `${more} more findings are not shown`];
    return { ...answer, findings: shown, notes };
  }
  const keyOf = ({ index }: { readonly index: number }): string => String(index).padStart(findingDigits, "0");
  const numbered = findings.map((finding, index) => ({ finding, index }));
  const { rows, ...end } = pageOf(numbered, { after, keyOf, viewOf: ({ finding }) => finding });
  return { ...answer, findings: rows, ...end };
}

/** A person reads only the first rows. */
const networksMax = 1_000;

interface ChecksNeeds {
  readonly nodeName: string;
  readonly checks: NodeChecks;
  readonly measures: Pick<CallMetrics, "shimSoftware">;
}

export function checksAnswer({ nodeName, checks, measures }: ChecksNeeds): ChecksAnswer {
  const networks = checks.networks();
  const ageMs = checks.networksAgeMs();
  return {
    nodeName,
    isReady: checks.isReady,
    checks: checks.all(),
    networks: beginningOf(networks.toSorted((left, right) => rank(left) - rank(right)).slice(0, networksMax)),
    networksTotal: networks.length,
    ...(ageMs === undefined ? {} : { networksAgeMs: Math.round(ageMs) }),
    shimSoftware: measures.shimSoftware,
  };
}

function rank({ state, reasons }: NetworkReadyView): number {
  if (state === "ready") return reasons.length > 0 ? 2 : 3;
  return state === "not-ready" ? 0 : 1;
}
