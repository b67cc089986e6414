import type { Paint } from "../../terminal/paint.ts";
import { oneLine } from "../../../base/plain-text.ts";
import { findingTopics, type Finding, type Level } from "./finding.ts";

const marks: Readonly<Record<Level, readonly [string, "green" | "yellow" | "red"]>> = {
  ok: ["✓", "green"],
  look: ["?", "yellow"],
  differs: ["!", "yellow"],
  blocks: ["✗", "red"],
};

/** One block per topic, one line per finding with its remedy below, and the totals at the end. */
export function findingsText(findings: readonly Finding[], paint: Paint): string {
  const blocks = findingTopics.flatMap((topic) => {
    const own = findings.filter((finding) => finding.topic === topic);
    if (own.length === 0) return [];
    return [`${paint("bold", topic)}\n${"-".repeat(topic.length)}\n${own.map((each) => line(each, paint)).join("")}`];
  });
  return `${blocks.join("\n")}\n${sumOf(findings)}\n`;
}

function line(finding: Finding, paint: Paint): string {
  const [mark, colour] = marks[finding.level];
  const remedy = finding.remedy === "" ? "" : `    → ${oneLine(finding.remedy)}\n`;
  return `${paint(colour, mark)} ${oneLine(finding.object)}: ${oneLine(finding.what)}\n${remedy}`;
}

function sumOf(findings: readonly Finding[]): string {
  const count = (level: Level): number => findings.filter((finding) => finding.level === level).length;
  const differs = `${count("differs")} ${count("differs") === 1 ? "thing differs" : "things differ"}`;
  const looks = count("look") === 0 ? "" : `, ${count("look")} to look at`;
  return count("blocks") === 0
    ? `Status: nothing blocks the move; ${differs}${looks}`
    : `Status: ${count("blocks")} to be done before the move; ${differs}${looks}`;
}
