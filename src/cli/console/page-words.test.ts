/** Every command that the console names exists, and so does every topic that it links to. */
import { expect, test } from "bun:test";
import type { Command } from "commander";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { meanings } from "../../../console/parts/meanings.ts";
import { decisionCauses, decisionPhases } from "../../guard/decision/decision.ts";
import { stepActions } from "../../guard/decision/step.ts";
import { gateCodes } from "../../wire/gate-codes.ts";
import { fakeShell } from "../fake-shell.fixture.ts";
import { buildProgram } from "../program.ts";
import { topicFinder } from "./explain-code.ts";

const root = join(import.meta.dir, "../../..");
/** Where the page's words are: the page itself, its server, and the parts of the command that feed it. */
const files = ["console", "src/console", "src/cli/console", "src/guard/gate/reasons"]
  .flatMap((folder) => readdirSync(join(root, folder), { recursive: true }).map((path) => join(folder, String(path))))
  .filter((path) => /\.tsx?$/u.test(path) && !/\.(?:test|fixture)\.tsx?$/u.test(path));

interface Named {
  readonly line: string;
  readonly path: string;
}

/** `levee` and what follows it in a text of the page, up to the end of the command. */
function commandsIn(path: string): readonly Named[] {
  const text = readFileSync(join(root, path), "utf8");
  const code = text.replaceAll(/^\s*(?:\/\/|\/?\*).*$/gmu, "");
  return [...code.matchAll(/\blevee((?: (?:--)?[a-z][a-z-]*)+)/gu)].map(([, line = ""]) => ({
    line: line.trim(),
    path,
  }));
}

/** Commands that do nothing without a second word. */
const groups: ReadonlySet<string> = new Set(["gate", "decisions"]);

/** The command that the words name; undefined when they name none. */
function found(words: readonly string[], command: Command): Command | undefined {
  const [first = "", ...rest] = words;
  const next = command.commands.find((one) => one.name() === first || one.aliases().includes(first));
  if (next !== undefined) return found(rest, next);
  if (command.parent === null) return undefined;
  // Prose may go on behind a whole command. A group alone is half of one, whose other half is put in later.
  return first === "" || first.startsWith("--") || !groups.has(command.name()) ? command : undefined;
}

const program = buildProgram(fakeShell());

test("the console names no command that levee does not have", () => {
  const named = files.flatMap(commandsIn);
  expect(named.length).toBeGreaterThan(20);
  const wrong = named.filter(({ line }) => {
    const words = line.split(" ");
    const command = found(words, program);
    const options = words.filter((word) => word.startsWith("--"));
    return command === undefined || options.some((option) => !command.options.some(({ long }) => long === option));
  });
  expect(wrong).toEqual([]);
});

test("every number of the page has a command, of levee or of kubectl", () => {
  for (const { command } of Object.values(meanings)) expect(command).toMatch(/^(?:levee|kubectl) /u);
});

test("every topic that the console links to is one of levee explain", async () => {
  const explain = await topicFinder();
  const literal = readFileSync(join(root, "src/console/view/now-line.ts"), "utf8").matchAll(/code: "(\w+)"/gu);
  const codes = [...[...literal].map(([, code = ""]) => code), ...decisionPhases, ...decisionCauses, ...stepActions];
  expect(codes.length).toBeGreaterThan(20);
  expect([...codes, ...gateCodes].filter((code) => explain(code) === undefined)).toEqual([]);
});
