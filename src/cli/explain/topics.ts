import errorsPage from "../../../docs/errors.md" with { type: "text" };
import gatePage from "../../../docs/gate.md" with { type: "text" };
import { errorCatalogue } from "../../base/errors.ts";
import { gateCodes } from "../../wire/gate-codes.ts";
import { lintCodes } from "../../lint/lint-codes.ts";
import { checkCodes } from "../check/check-codes.ts";
import { phaseFacts } from "./decision-phases.ts";
import { causeFacts, decisionFailures, stepFacts, type Explanation } from "./guard-words.ts";
import { readinessFacts } from "./readiness-words.ts";
import { runbookPages } from "./runbook-pages.ts";

/** A name that `levee explain` knows. */
export interface Topic {
  readonly name: string;
  readonly kind: TopicKind;
  readonly title: string;
  /** Markdown: what it means and what to do. For an alert it is the runbook page. */
  readonly text: string;
}

type TopicKind = "check" | "lint" | "gate" | "readiness" | "cause" | "step" | "phase" | "alert" | "error";

export function allTopics(): readonly Topic[] {
  return [
    ...checkTopics(),
    ...lintTopics(),
    ...wordTopics(causeFacts, "cause", "cause of a Decision"),
    ...wordTopics(stepFacts, "step", "step of a Decision"),
    ...phaseTopics(),
    ...alertTopics(),
    ...gateTopics(),
    ...wordTopics(readinessFacts, "readiness", "reason of a NetworkReadiness"),
    ...errorTopics(),
    ...wordTopics(decisionFailures, "error", "error of a command"),
  ];
}

function wordTopics(words: Readonly<Record<string, Explanation>>, kind: TopicKind, title: string): readonly Topic[] {
  return Object.entries(words).map(([name, { means, todo }]) => ({ name, kind, title, text: parts(means, todo) }));
}

function checkTopics(): readonly Topic[] {
  return Object.entries(checkCodes).map(([name, { title, means, todo }]) => ({
    name,
    kind: "check",
    title: `levee check: ${title}`,
    text: parts(means, todo),
  }));
}

function lintTopics(): readonly Topic[] {
  return Object.entries(lintCodes).map(([name, { title, severity, means, todo }]) => ({
    name,
    kind: "lint",
    title: `levee lint, ${severity}: ${title}`,
    text: parts(means, todo),
  }));
}

function phaseTopics(): readonly Topic[] {
  return Object.entries(phaseFacts).map(([name, { means, why, todo }]) => ({
    name,
    kind: "phase",
    title: "phase of a Decision",
    text: parts(`${means} ${why}`, todo),
  }));
}

/** The heading goes, because the title replaces it. */
function alertTopics(): readonly Topic[] {
  return Object.entries(runbookPages).map(([name, page]) => ({
    name,
    kind: "alert",
    title: "alert",
    text: page.replace(/^# .*\n+/u, ""),
  }));
}

function gateTopics(): readonly Topic[] {
  return gateCodes.map((name) => {
    const [means = "", ...todo] = gateSection(name);
    return { name, kind: "gate", title: "reason of the reboot gate", text: parts(means, todo.join("\n\n")) };
  });
}

/** The paragraphs of the code's section in docs/gate.md; links go nowhere on a terminal. */
function gateSection(code: string): readonly string[] {
  const [, after = ""] = gatePage.split(`### ${code}\n`);
  const [section = ""] = after.split(/^##/mu);
  return section
    .replace(/\[([^\]]+)\]\([^)]+\)/gu, "$1")
    .trim()
    .split(/\n{2,}/u);
}

function errorTopics(): readonly Topic[] {
  return Object.entries(errorCatalogue).map(([name, { meaning, cni }]) => ({
    name,
    kind: "error",
    title: `error, CNI number ${cni}`,
    text: parts(`${meaning}.`, remedyOf(name)),
  }));
}

/** The last column of the code's row in docs/errors.md. */
function remedyOf(code: string): string {
  const row = errorsPage.split("\n").find((line) => line.startsWith(`| \`${code}\` |`)) ?? "";
  return row.split(/(?<!\\) \| /u)[3]?.replace(/ \|$/u, "") ?? "";
}

function parts(means: string, todo: string): string {
  return `## What it means\n\n${means}\n\n## What to do\n\n${todo}\n`;
}
