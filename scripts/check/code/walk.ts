import { dirname, normalize } from "node:path/posix";
import { fileRule, type Problem } from "../rule.ts";
import { importsOf } from "./imports.ts";

/** What a newcomer can read at a stretch. */
const filesMax = 35;
const linesMax = 3_500;
const page = "ARCHITECTURE.md";

/** The rooms in which ADD is told. */
const story = /^src\/daemon\/(?:serve|attach|look-up|chains)\//u;
/** Rings with functions that the story calls. base, cni, wire and config are its alphabet. */
const called = /^src\/(?:attachment|admission|hands|state)\//u;

/** Holds the walk of one ADD in ARCHITECTURE.md to its size, and the page to the numbers. test/walk shows it complete. */
export const walk = fileRule("walk", (tree) => {
  const text = tree.read(page) ?? "";
  const files = filesOfWalk(text);
  const lines = files.reduce((sum, file) => sum + countLines(tree.read(file) ?? ""), 0);
  const counted = countedText(files.length, lines);
  const missing = files.filter((file) => !tree.files.includes(file));
  return [
    ...missing.map((file) => problem(`there is no file ${file}`, "Name the file as it is now")),
    ...(files.length > filesMax || lines > linesMax
      ? [
          problem(
            `the walk of one ADD is ${counted}, and may be ${countedText(filesMax, linesMax)}`,
            "Make it shorter: move what only some ADDs need behind a name that says so",
          ),
        ]
      : []),
    ...(text.includes(counted) ? [] : [problem(`the walk says another number than ${counted}`, `Write: ${counted}`)]),
  ];
});

/** The source files that the section between the marks names, each once. What stands for a failure is not among them. */
export function filesOfWalk(text: string): readonly string[] {
  const section = /<!-- walk -->(.*?)A failure after/su.exec(text)?.[1] ?? "";
  const names = [...section.matchAll(/`(src\/[^`\s]+\.ts)`/gu)].map(([, file = ""]) => file);
  return [...new Set(names)].filter((file) => story.test(file) || called.test(file));
}

/**
 * Whether a file that ran for an ADD belongs to its walk: it stands in the rooms of the story, or the story calls a
 * function of it by name. Objects that compose hands over are doors, and are taken by the names of their methods.
 */
export function isOfWalk(file: string, ran: readonly string[], read: (path: string) => string): boolean {
  if (story.test(file)) return true;
  return called.test(file) && ran.some((from) => story.test(from) && callsInto(from, file, read));
}

function callsInto(from: string, file: string, read: (path: string) => string): boolean {
  return importsOf(read(from)).some((found) => !found.isType && normalize(`${dirname(from)}/${found.from}`) === file);
}

function countedText(files: number, lines: number): string {
  return `${files} files and ${lines.toLocaleString("en")} lines`;
}

function countLines(text: string): number {
  return text.split("\n").length - 1;
}

function problem(message: string, remedy: string): Problem {
  return { file: page, line: 0, message, remedy };
}
