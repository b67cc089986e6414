import { plural } from "../terminal/plural.ts";
import type { Paint } from "../terminal/paint.ts";
import { oneLine } from "../../base/plain-text.ts";
import type { CheckLine } from "./check-line.ts";
import type { NodeReport, ReportSection } from "./node-report.ts";

interface TextOptions {
  readonly paint: Paint;
  /** All lines, or only warnings and failures. */
  readonly isFull: boolean;
}

const signs = { ok: "√", warning: "‼", failed: "×" } as const;
const colours = { ok: "green", warning: "yellow", failed: "red" } as const;

/** One node, section by section. */
export function nodeReportText(report: NodeReport, options: TextOptions): string {
  const sections = report.sections.flatMap((section) => sectionText(section, options));
  const head = `${options.paint("bold", oneLine(report.node))}\n`;
  return `${head}${sections.length === 0 ? `  ${signOf("ok", options.paint)} all is well\n` : sections.join("")}`;
}

/** The last line, with the counts. */
export function summaryText(reports: readonly NodeReport[], paint: Paint): string {
  const lines = reports.flatMap(({ sections }) => sections.flatMap(({ lines: own }) => own));
  const count = (state: CheckLine["state"]): number => lines.filter((line) => line.state === state).length;
  const nodes = reports.length === 1 ? "" : ` on ${plural(reports.length, "node")}`;
  const failed = count("failed");
  const state = failed > 0 ? "failed" : count("warning") > 0 ? "warning" : "ok";
  return `${signOf(state, paint)} ${plural(lines.length, "check")}${nodes}: ${failed} failed, ${plural(count("warning"), "warning")}\n`;
}

function sectionText(section: ReportSection, options: TextOptions): readonly string[] {
  const lines = section.lines.filter(({ state }) => options.isFull || state !== "ok");
  if (lines.length === 0) return [];
  return [`  ${options.paint("dim", section.title)}\n`, ...lines.map((line) => lineText(line, options.paint))];
}

function lineText({ state, name, detail, hint }: CheckLine, paint: Paint): string {
  const advice = hint === "" || state === "ok" ? "" : `        ${paint("dim", `hint: ${oneLine(hint)}`)}\n`;
  return `    ${signOf(state, paint)} ${oneLine(name)}: ${oneLine(detail)}\n${advice}`;
}

export function signOf(state: CheckLine["state"], paint: Paint): string {
  return paint(colours[state], signs[state]);
}
