import type { AttachmentRecord } from "../../state/journal/attachment-record.ts";
import { leakView, quarantineView, recorderView, recordView } from "../../state/journal/record-view.ts";
import { protocolVersion } from "../../wire/frame.ts";
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
import type { TopAnswer } from "../../wire/top-view.ts";
import { changeLeaks } from "./change-leaks.ts";
import type { NodeFacts } from "./node-facts.ts";
import { parseQuestion } from "./parse-question.ts";
import { podNow } from "./pod-now.ts";
import type { Ports } from "../ports.ts";
import { topAnswer } from "./top-answer.ts";

type AnyAnswer = AttachmentsAnswer | TimelineAnswer | LeaksAnswer | NodeAnswer | ChecksAnswer | GcAnswer | TopAnswer;

/** Answers what the CLI asks about this node. All but a pod's story and a change of the leak ledger comes from memory. */
export function answerQuestion(text: string, facts: NodeFacts): AnyAnswer | Promise<AnyAnswer> {
  const question = parseQuestion(text);
  const { ports } = facts;
  switch (question.ask) {
    case "attachments":
      return { attachments: ports.journal.all().map((record) => attachmentView(record, ports)) };
    case "timeline":
      return timelineAnswer(question, facts);
    case "leaks":
      return answerLeaks(question, ports);
    case "gc":
      return ports.selfGc.answer(question.run === undefined ? undefined : ports.selfGc.ask(question.run));
    case "node":
      return nodeAnswer(facts);
    case "checks":
      return checksAnswer(facts);
    case "top":
      return topAnswer(facts);
  }
}

function answerLeaks(
  question: Extract<Question, { readonly ask: "leaks" }>,
  ports: Ports,
): LeaksAnswer | Promise<LeaksAnswer> {
  return question.forget === undefined && question.retry === undefined
    ? leaksAnswer(ports)
    : changeLeaks(question, ports).then(() => leaksAnswer(ports));
}

/** The story comes from the recorder's files, the pod's standing of this moment from memory. */
async function timelineAnswer(
  { namespace, name }: { readonly namespace: string; readonly name: string },
  { ports, sourceNotices }: NodeFacts,
): Promise<TimelineAnswer> {
  const story = await ports.recorder.of(namespace, name);
  const entries = story.entries.map(recorderView);
  const { notice } = ports.recorder;
  const notices = [...sourceNotices(), ...(notice === undefined ? [] : [notice])];
  const now = await podNow({ namespace, name }, entries, ports);
  return {
    namespace,
    name,
    entries,
    ...(notices.length === 0 ? {} : { notices }),
    ...(story.omitted === 0 ? {} : { omitted: story.omitted }),
    ...(now === undefined ? {} : { now }),
  };
}

function attachmentView(record: AttachmentRecord, ports: Ports): AttachmentView {
  return { ...recordView(record), phase: phaseOf(record, ports) };
}

export function phaseOf(record: AttachmentRecord, ports: Ports): AttachmentView["phase"] {
  if (ports.recovery.isDeletePending(record)) return "detaching";
  if (record.phase === "acknowledged") return record.delAttempts > 0 ? "detaching" : "attached";
  if (ports.recovery.isPending(record.token)) return "lost";
  return record.phase === "undoing" ? "undoing" : "attaching";
}

function leaksAnswer({ journal }: Ports): LeaksAnswer {
  return { leaks: journal.leaks().map(leakView), quarantined: journal.quarantined().map(quarantineView) };
}

export function nodeAnswer(facts: NodeFacts): NodeAnswer {
  const { ports } = facts;
  const admission = ports.admission.facts();
  return {
    software: facts.software,
    protocol: protocolVersion,
    stateDir: ports.config.stateDir,
    socket: facts.socketPath,
    bootId: ports.bootId,
    startedWallMs: facts.startedWallMs,
    attachments: ports.journal.all().length,
    leaks: ports.journal.leaks().length,
    quarantined: ports.journal.quarantined().length,
    waiting: Object.values(admission.waiting).reduce((sum, count) => sum + count, 0),
    running: admission.attaching + admission.detaching + admission.hung,
    residentHands: ports.recovery.residents.map(({ hand, sinceWallMs }) => ({
      software: hand.identity.software,
      pid: hand.identity.pid,
      sinceWallMs,
    })),
    notices: facts.notices(),
  };
}

/** An answer is one frame, and a person reads the first rows. */
const networksMax = 1_000;

export function checksAnswer({ ports, nodeName }: NodeFacts): ChecksAnswer {
  const { checks, measures } = ports;
  const networks = checks.networks();
  const ageMs = checks.networksAgeMs();
  return {
    nodeName,
    isReady: checks.isReady,
    checks: checks.all(),
    networks: networks.toSorted((left, right) => rank(left) - rank(right)).slice(0, networksMax),
    networksTotal: networks.length,
    ...(ageMs === undefined ? {} : { networksAgeMs: Math.round(ageMs) }),
    shimSoftware: measures.shimSoftware,
  };
}

function rank({ state, reasons }: NetworkReadyView): number {
  if (state === "ready") return reasons.length > 0 ? 2 : 3;
  return state === "not-ready" ? 0 : 1;
}
