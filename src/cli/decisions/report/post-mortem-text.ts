import { decisionPhase } from "../../../guard/decide/standing.ts";
import type { Decision, DecisionApproval, StepStatus } from "../../../guard/decision/decision.ts";
import type { Step, VerifyCheck } from "../../../guard/decision/step.ts";
import { codeBlock, list, md, table } from "./markdown.ts";
import { nextSteps } from "./next-steps.ts";
import { lateNodes, rebootChain } from "./reboot-chain.ts";
import { timelineRows } from "./timeline.ts";

/** Enough to see their kind; the Decision has all. */
const leftAloneShown = 50;

/**
 * The post-mortem of one Decision. It contains only what the Decision and its approvals hold. It computes nothing, so a
 * reader finds every number there.
 */
export function postMortemText(decision: Decision, approvals: readonly DecisionApproval[]): string {
  const { spec, metadata } = decision;
  const sections: readonly (readonly [string, string])[] = [
    ["Summary", summaryText(decision)],
    ["Timeline", table(["when", "what"], timelineRows(decision, approvals))],
    ["Cause and chain", causeText(decision)],
    ["Decisions and approvals", approvalText(decision, approvals)],
    ["What was done, step by step", spec.steps.map((step) => stepText(step, decision)).join("\n")],
    ["What was left alone", leftAloneText(decision)],
    ["Verification", verificationText(decision)],
    ["Numbers", numbersText(decision)],
    ["What to do next", list(nextSteps(decision))],
  ];
  const body = sections.map(([title, text]) => `## ${title}\n\n${text === "" ? "Nothing.\n" : text}`);
  return `# Post-mortem: ${md(metadata.name)}\n\n${headTable(decision)}\n${body.join("\n")}`;
}

/** Who was affected, for how long, and how it stands. */
function headTable(decision: Decision): string {
  const { spec, metadata, status } = decision;
  const since = metadata.creationTimestamp ?? "";
  const until = status?.endedAt === undefined ? "it has not ended" : `until ${md(status.endedAt)}`;
  return table(
    ["Field", "Value"],
    [
      ["**Date**", md(since.slice(0, 10))],
      ["**Duration**", `from the proposal at ${md(since)}, ${until}`],
      ["**Affected**", affectedText(spec)],
      ["**Status**", decisionPhase(decision)],
    ],
  );
}

/** A reboot backlog is about nodes. */
function affectedText(spec: Decision["spec"]): string {
  const nodes = spec.cause === "RebootBacklog" ? lateNodes(spec) : [];
  const names = nodes.length === 0 ? "" : `: ${nodes.map(md).join(", ")}`;
  return `${md(spec.subject.shape)}${placeText(spec)}${names}`;
}

function summaryText(decision: Decision): string {
  const { spec, status } = decision;
  const message = status === undefined ? "" : ` ${md(status.message)}.`;
  return `${md(spec.summary)}\n\n${spec.purpose}${placeText(spec)}: **${decisionPhase(decision)}**.${message}\n`;
}

/** A cause about nodes has no namespace. */
function placeText({ subject }: Decision["spec"]): string {
  return subject.namespace === "" ? "" : ` in ${md(subject.namespace)}`;
}

function causeText({ spec }: Decision): string {
  const edges = spec.chain.map(
    ({ cause, effect, why, rule }) => `${md(cause)} → ${md(effect)}: ${md(why)} (${md(rule)})`,
  );
  const what = spec.cause === "OwnerlessPodAvalanche" ? "pods " : "";
  const chain = edges.length === 0 ? "It has no other known effects.\n" : list(edges);
  const drawing = spec.cause === "RebootBacklog" ? `${rebootChain(spec)}\n` : "";
  return `Cause: ${spec.cause}, of ${what}${md(spec.subject.shape)}${placeText(spec)}.\n\n${drawing}${chain}`;
}

function approvalText({ metadata, spec, status }: Decision, approvals: readonly DecisionApproval[]): string {
  const rows = approvals.map((word) => [
    word.spec.verdict,
    md(word.spec.by.username),
    md(word.metadata.creationTimestamp ?? ""),
    forText(word, { metadata, spec }),
    md(word.spec.reason ?? ""),
  ]);
  const counted =
    status?.approval === undefined
      ? "No approval counted.\n"
      : `The approval ${md(status.approval.name)} of ${md(status.approval.by)} counted.\n`;
  const head = `Decision ${md(metadata.name)}, UID ${md(metadata.uid ?? "")}, plan ${md(spec.planHash)}.\n\n${counted}`;
  return rows.length === 0 ? head : `${head}\n${table(["verdict", "by", "when", "for", "reason"], rows)}`;
}

function forText({ spec: word }: DecisionApproval, { metadata, spec }: Pick<Decision, "metadata" | "spec">): string {
  if (word.decisionUID !== metadata.uid) return "another Decision";
  if (word.planHash === spec.planHash) return "this plan";
  const isEarlier = spec.revisions?.some(({ planHash }) => planHash === word.planHash) === true;
  return isEarlier ? "an earlier plan" : "another plan";
}

function stepText(step: Step, { status }: Decision): string {
  const done = status?.steps?.find(({ id }) => id === step.id);
  const lines = [
    `Checked by: ${md(step.check.what)}`,
    ...(done === undefined ? ["Not begun"] : [`${done.phase}: ${md(done.message)}`, ...factsOf(done)]),
  ];
  const found =
    done?.lines === undefined || done.lines.length === 0
      ? ""
      : `\nLines that the step found:\n\n${codeBlock(done.lines)}`;
  return `### ${step.id}. ${step.action}\n\n${md(step.title)}\n\n${askedText(step)}${list(lines)}\nBy hand:\n\n${codeBlock(step.kubectl)}${found}`;
}

/** What a person was asked to do. */
function askedText(step: Step): string {
  if (step.action !== "AskPerson") return "";
  const rows = step.askPerson.items.map(({ object, node, what, since, line }) => [
    md(object),
    md(node),
    md(what),
    md(since),
    md(line),
  ]);
  return `${table(["what", "node", "why", "since", "how to clear it"], rows)}\n`;
}

function factsOf({ dryRun, verified, removed, gone, commit }: StepStatus): readonly string[] {
  return [
    ...(dryRun === undefined ? [] : [`Dry run: ${dryRun}`]),
    ...(removed === undefined ? [] : [`Removed: ${removed}`]),
    ...(gone === undefined ? [] : [`Already gone: ${gone}`]),
    ...(commit === undefined ? [] : [`Commit: ${md(commit)}`]),
    ...(verified === undefined ? [] : [verified ? "Its check passed" : "Its check failed"]),
  ];
}

function leftAloneText({ status }: Decision): string {
  const reasons = (status?.steps ?? []).flatMap(({ leftAlone = [] }) => leftAlone);
  const more = reasons.length > leftAloneShown ? ["More are in the Decision itself"] : [];
  return list([...reasons.slice(0, leftAloneShown).map(md), ...more]);
}

function verificationText(decision: Decision): string {
  const verify = decision.spec.steps.flatMap((step) => (step.action === "Verify" ? [step] : []));
  return verify
    .map((step) => {
      const done = decision.status?.steps?.find(({ id }) => id === step.id);
      const result = done === undefined ? "Not checked." : `${done.phase}: ${md(done.message)}`;
      return `${result}\n\n${list(step.verify.checks.map((check) => checkText(check, decision)))}`;
    })
    .join("\n");
}

function setText({ cause, subject }: Decision["spec"]): string {
  return cause === "RunawayWorkload" ? md(subject.shape) : "the shape";
}

function checkText(check: VerifyCheck, { spec }: Decision): string {
  switch (check.check) {
    case "BacklogGone":
      return `No more than ${check.podsMax} pods of ${setText(spec)} are Pending in ${md(check.namespace)}`;
    case "DaemonSetReady":
    case "DeploymentAvailable":
    case "StatefulSetReady":
    case "EndpointsReady":
      return `${check.check}: ${md(`${check.namespace}/${check.name}`)}`;
    case "MemoryEnough":
      return `No kill and no pressure for ${check.forSeconds} s with less memory: ${md(`${check.namespace}/${check.name}`)}`;
    case "ApplicationsKnown":
      return `At most ${check.unknownMax} Applications of Argo CD are Unknown`;
    case "UrlAnswers":
      return `${md(check.url)} answers with status ${check.status}`;
    case "ProbesSucceed":
      return "The probes of blackbox-exporter succeed";
  }
}

function numbersText({ spec }: Decision): string {
  return table(
    ["number", "of what", "where", "seen at"],
    spec.evidence.map(({ value, fact, detail, at }) => [String(value), md(fact), md(detail), md(at)]),
  );
}
