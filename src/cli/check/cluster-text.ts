import { oneLine } from "../../base/plain-text.ts";
import type { Paint } from "../terminal/paint.ts";
import type { Category, ClusterLine } from "./cluster-line.ts";
import { plural } from "../terminal/plural.ts";
import { signOf } from "./node-report-text.ts";

/** More lines tell a person nothing new; `-o wide` and `-o json` have all. */
const evidenceShown = 8;

interface ClusterTextOptions {
  readonly paint: Paint;
  readonly isWide: boolean;
}

/** The checks by category, in linkerd's format. */
export function clusterText(categories: readonly Category[], options: ClusterTextOptions): string {
  const parts = categories.map(({ name, lines }) => {
    const head = `${options.paint("bold", name)}\n${"-".repeat(name.length)}\n`;
    return head + lines.map((line) => lineText(line, options)).join("");
  });
  return [...parts, resultText(categories, options.paint)].join("\n");
}

/** One line for each warning and failure, then the result. */
export function shortText(categories: readonly Category[], paint: Paint): string {
  const lines = linesOf(categories).filter(({ state }) => state !== "ok");
  return lines.map((line) => headText(line, paint)).join("") + resultText(categories, paint);
}

/** linkerd's JSON with code and evidence added. The version changes when a field changes its meaning. */
export function clusterValue(categories: readonly Category[]): object {
  const results = { ok: "success", warning: "warning", failed: "error" } as const;
  return {
    version: 1,
    success: linesOf(categories).every(({ state }) => state !== "failed"),
    categories: categories.map(({ name, lines }) => ({
      name,
      checks: lines.map(({ code, name: description, state, detail, hint, evidence }) => ({
        code,
        description,
        result: results[state],
        ...(state === "ok" ? { detail } : { error: detail, hint }),
        evidence,
      })),
    })),
  };
}

export function countLines(categories: readonly Category[], state: ClusterLine["state"]): number {
  return linesOf(categories).filter((line) => line.state === state).length;
}

function linesOf(categories: readonly Category[]): readonly ClusterLine[] {
  return categories.flatMap(({ lines }) => lines);
}

function lineText(line: ClusterLine, { paint, isWide }: ClusterTextOptions): string {
  const rows = Object.entries(line.evidence);
  const shown = isWide ? rows : rows.slice(0, evidenceShown);
  const more = rows.length > shown.length ? [`    and ${rows.length - shown.length} more (-o wide)\n`] : [];
  const evidence = shown.map(([name, seen]) => `    ${oneLine(name)}: ${oneLine(seen)}\n`);
  const hint = line.state === "ok" || line.hint === "" ? "" : `    ${paint("dim", `hint: ${oneLine(line.hint)}`)}\n`;
  return `${headText(line, paint)}${evidence.join("")}${more.join("")}${hint}`;
}

function headText({ state, name, detail, code }: ClusterLine, paint: Paint): string {
  const text = `${signOf(state, paint)} ${oneLine(name)}${detail === "" ? "" : `: ${oneLine(detail)}`}`;
  return state === "ok" ? `${text}\n` : `${text}  ${paint("dim", code)}\n`;
}

function resultText(categories: readonly Category[], paint: Paint): string {
  const [passed, warnings, failures] = [
    countLines(categories, "ok"),
    countLines(categories, "warning"),
    countLines(categories, "failed"),
  ];
  const state = failures > 0 ? "failed" : warnings > 0 ? "warning" : "ok";
  return `Status check results are ${signOf(state, paint)}   ${passed} passed, ${plural(warnings, "warning")}, ${failures} failed\n`;
}
