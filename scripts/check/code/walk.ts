import { dirname, normalize } from "node:path/posix";
import { fileRule, type Problem } from "../rule.ts";
import { importsOf } from "./imports.ts";

/** As much as a newcomer can read in one sitting. */
const filesMax = 35;
const linesMax = 3_500;
const page = "ARCHITECTURE.md";

/** The rooms with the steps of an ADD. */
const story = /^src\/daemon\/(?:serve|attach|look-up|chains)\//u;
/** Rings with functions that these rooms call. base, cni, wire and config are basics and do not count. */
const called = /^src\/(?:attachment|admission|hands|state)\//u;

/** Limits the walk of one ADD in ARCHITECTURE.md and checks the page's numbers. test/walk checks that it is complete. */
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

/** The source files that the section between the marks names, each once, without those for a failure. */
export function filesOfWalk(text: string): readonly string[] {
  const section = /<!-- walk -->(.*?)A failure after/su.exec(text)?.[1] ?? "";
  const names = [...section.matchAll(/`(src\/[^`\s]+\.ts)`/gu)].map(([, file = ""]) => file);
  return [...new Set(names)].filter((file) => story.test(file) || called.test(file));
}

/**
 * Whether a file that ran for an ADD belongs to its walk: it is in one of the rooms above, or a file in them imports a
 * value from it. A file that they reach only through an object from compose does not belong to it.
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
