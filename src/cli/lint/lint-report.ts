import { oneLine } from "../../base/plain-text.ts";
import type { LintFinding, LintSeverity } from "../../lint/lint-finding.ts";
import type { Paint } from "../terminal/paint.ts";
import { plural } from "../terminal/plural.ts";

/** The result of `levee lint`. */
export interface LintReport {
  readonly findings: readonly LintFinding[];
  /** Undefined if the cluster was read. */
  readonly files: number | undefined;
  readonly networks: number;
  readonly pods: number;
  /** Lists of the cluster that could not be read. */
  readonly unseen: readonly string[];
}

export function countFindings({ findings }: Pick<LintReport, "findings">, severity: LintSeverity): number {
  return findings.filter((finding) => finding.severity === severity).length;
}

/** By file and line; those of a cluster by object. */
export function sortedFindings(findings: readonly LintFinding[]): readonly LintFinding[] {
  return findings.toSorted(
    (left, right) =>
      compare(left.place.file, right.place.file) ||
      (left.place.file === "" ? compare(left.object, right.object) : 0) ||
      left.place.line - right.place.line ||
      left.place.column - right.place.column ||
      compare(left.code, right.code),
  );
}

function compare(left: string, right: string): number {
  if (left === right) return 0;
  return left < right ? -1 : 1;
}

export function reportValue(report: LintReport): unknown {
  const { findings, files, networks, pods, unseen } = report;
  const [errors, warnings, notes] = (["error", "warning", "note"] as const).map((each) => countFindings(report, each));
  return { version: 1, success: errors === 0, errors, warnings, notes, files, networks, pods, unseen, findings };
}

const colours = { error: "red", warning: "yellow", note: "dim" } as const;

/** A line per finding, as compilers print it, so that editors find the place. */
export function reportText(report: LintReport, paint: Paint): string {
  const lines = report.findings.map((finding) => {
    const { severity, code, object, message, remedy } = finding;
    const what = `${paint(colours[severity], severity)} ${code} ${oneLine(object)}: ${oneLine(message)}`;
    return `${paint("bold", placeText(finding))}: ${what}${remedy === "" ? "" : `; ${oneLine(remedy)}`}\n`;
  });
  const unseen = report.unseen.map((each) => `not looked at: ${each}\n`);
  return [...lines, ...unseen, `${summaryText(report)}\n`].join("");
}

function placeText({ place }: LintFinding): string {
  return `${place.file === "" ? "spec.config" : oneLine(place.file)}:${place.line}:${place.column}`;
}

function summaryText(report: LintReport): string {
  const counts = (["error", "warning", "note"] as const).map((each) => plural(countFindings(report, each), each));
  const from = report.files === undefined ? "the cluster" : plural(report.files, "file");
  const more = report.findings.length === 0 ? "" : "; levee explain CODE explains each";
  return `${counts.join(", ")} in ${plural(report.networks, "network")} and ${plural(report.pods, "pod")} of ${from}${more}`;
}

/** Workflow commands of GitHub Actions: each finding becomes a mark in the diff. */
export function githubText({ findings }: LintReport): string {
  const levels = { error: "error", warning: "warning", note: "notice" } as const;
  return findings
    .map(({ severity, code, object, message, remedy, place }) => {
      const facts = [
        ...(place.file === ""
          ? []
          : [`file=${property(place.file)}`, `line=${place.line}`, `endLine=${place.endLine}`]),
        ...(place.file === "" || place.line !== place.endLine
          ? []
          : [`col=${place.column}`, `endColumn=${place.endColumn}`]),
        `title=${property(`levee lint ${code}`)}`,
      ];
      const text = `${object}: ${message}${remedy === "" ? "" : `; ${remedy}`}`;
      return `::${levels[severity]} ${facts.join(",")}::${data(oneLine(text))}\n`;
    })
    .join("");
}

function data(text: string): string {
  return text.replaceAll("%", "%25").replaceAll("\r", "%0D").replaceAll("\n", "%0A");
}

function property(text: string): string {
  return data(text).replaceAll(":", "%3A").replaceAll(",", "%2C");
}
