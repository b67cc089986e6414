import { oneLine } from "../../base/plain-text.ts";
import { timeMs } from "../../guard/json-values.ts";
import { plural } from "../terminal/plural.ts";
import { ageText } from "../terminal/span.ts";
import { matchText, type ExceptionView, type GateView } from "./gate-view.ts";

/** Every reason with since when, what it is about and how to clear it; then the words of people that are in force. */
export function whyText(gate: GateView, exceptions: readonly ExceptionView[], { nowMs, namespace }: Where): string {
  return [
    headText(gate, nowMs),
    ...gate.reasons.map((reason, at) => reasonText(reason, at + 1, nowMs)),
    overrideText(gate, { nowMs, namespace }),
    exceptionsText(
      exceptions.filter(({ isOver }) => !isOver),
      nowMs,
    ),
    gate.reasons.length === 0 ? "" : `More about a reason: levee explain ${gate.reasons[0]?.code ?? ""}\n`,
  ]
    .filter((block) => block !== "")
    .join("\n");
}

interface Where {
  readonly nowMs: number;
  /** Of the guard. */
  readonly namespace: string;
}

function headText(gate: GateView, nowMs: number): string {
  const { node, verdict, rebootRequiredSince, observedAt, reasons, override } = gate;
  const count = plural(reasons.length, "reason");
  const person =
    verdict === "Allow" && override !== undefined ? `: ${oneLine(override.by)} allows it in spite of ` : "";
  const counted = reasons.length === 0 ? "" : person === "" ? ` (${count})` : `${person}${count}`;
  const may = verdict === "Allow" ? "may be rebooted now" : "may not be rebooted now";
  const due =
    rebootRequiredSince === undefined
      ? "The guard knows of no mark that asks for a reboot."
      : `A reboot has been due for ${ageText(nowMs - timeMs(rebootRequiredSince))}, since ${rebootRequiredSince}.`;
  const looked = observedAt === undefined ? "" : ` Looked ${ageText(nowMs - timeMs(observedAt))} ago.`;
  return `${verdict}: ${oneLine(node)} ${may}${counted}\n${due}${looked}\n`;
}

function reasonText(
  { code, message, object, remedy, since }: GateView["reasons"][number],
  number: number,
  nowMs: number,
): string {
  const lines = [
    `${number}. ${code}: ${oneLine(message)}`,
    `   object    ${oneLine(object)}`,
    `   since     ${since} (${ageText(nowMs - timeMs(since))})`,
    `   to clear  ${oneLine(remedy)}`,
  ];
  return `${lines.join("\n")}\n`;
}

function overrideText({ override }: GateView, { nowMs, namespace }: Where): string {
  if (override === undefined) return "";
  const { by, name, reason, until } = override;
  return `Allowed by ${oneLine(by)} for another ${ageText(timeMs(until) - nowMs)}: ${oneLine(reason)}\n   to withdraw  kubectl -n ${namespace} delete decisionapproval ${oneLine(name)}\n`;
}

function exceptionsText(exceptions: readonly ExceptionView[], nowMs: number): string {
  if (exceptions.length === 0) return "";
  const lines = exceptions.map(
    ({ name, match, by, until, reason }) =>
      `   ${oneLine(matchText(match))}, by ${oneLine(by)}, for another ${ageText(timeMs(until) - nowMs)}: ${oneLine(reason)} (${oneLine(name)})`,
  );
  return `Exceptions in force, for alerts with these labels:\n${lines.join("\n")}\n`;
}
