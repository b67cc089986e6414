import type { Decision } from "../decision/decision.ts";
import { summaryCharsMax } from "../decision/limits.ts";
import type { FieldEdit, LockToGitStep } from "../decision/step.ts";
import { foreignText } from "../detect/foreign-text.ts";
import { memoryBytes } from "../facts/memory-quantity.ts";

const lineCharsMax = 300;
/** Tools show so much of a subject, and so much of a line. */
const subjectCharsMax = 72;
const wrapChars = 72;
/** Enough to understand the reason; the Decision has the rest. */
const evidenceMax = 12;

/** The commit message: the Decision, who approved it, the evidence, and how to revert it. */
export function lockMessage(
  { lockToGit: { path, edits, branch, baseRef } }: LockToGitStep,
  decision: Decision,
): string {
  const { metadata, spec, status } = decision;
  const changes = edits.map(({ pointer, from, to }) => `${pointer}: from ${from} to ${to}`);
  const [first] = edits;
  return [
    subject(verbOf(first), path, `from ${first?.from ?? ""} to ${first?.to ?? ""}`),
    "",
    ...wrapped(`${path}: ${spec.summary}`),
    "",
    ...changes.map((change) => line(change)),
    "",
    "Seen:",
    ...spec.evidence.slice(0, evidenceMax).map(({ fact, value, at }) => line(`- ${fact}: ${value} (${at})`)),
    "",
    branch === baseRef
      ? "To undo: set the cluster's limit back, then git revert this commit."
      : `To use it: merge ${line(branch)} into ${line(baseRef)}. To drop it: delete the branch.`,
    "",
    `Levee-Decision: ${line(`${metadata.namespace}/${metadata.name}`)}`,
    `Levee-Decision-UID: ${line(metadata.uid ?? "")}`,
    `Levee-Plan: ${line(spec.planHash)}`,
    `Levee-Approved-By: ${line(status?.approval?.by ?? "")}`,
    "",
  ].join("\n");
}

/** A long path is cut to its last parts: the values must not be lost, and the body has the whole path. */
function subject(verb: string, path: string, change: string): string {
  const parts = path.split("/");
  const ways = parts.map((_, index) => `${verb} the memory limit in ${parts.slice(index).join("/")} ${change}`);
  const fitting = ways.find((text) => text.length <= subjectCharsMax);
  return line(fitting ?? `${verb} a memory limit ${change}`);
}

/** Git may have another value than the cluster, also one that is lower already. */
function verbOf(edit: FieldEdit | undefined): string {
  const [from, to] = [memoryBytes(edit?.from ?? ""), memoryBytes(edit?.to ?? "")];
  return from !== undefined && to !== undefined && to < from ? "Lower" : "Raise";
}

/** In lines of whole words. */
function wrapped(text: string): readonly string[] {
  const lines: string[] = [];
  for (const word of foreignText(text, summaryCharsMax).split(" ")) {
    const last = lines.at(-1);
    if (last === undefined || last.length + 1 + word.length > wrapChars) lines.push(word);
    else lines[lines.length - 1] = `${last} ${word}`;
  }
  return lines;
}

/** A text that is too long ends after a whole word. */
function line(text: string): string {
  const whole = foreignText(text, summaryCharsMax);
  if (whole.length <= lineCharsMax) return whole;
  return `${foreignText(whole, lineCharsMax).replace(/\s+\S*$/u, "")} …`;
}
