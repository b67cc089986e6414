import { spawn } from "node:child_process";
import { join } from "node:path";
import type { Problem, Rule, RuleOutcome } from "../rule.ts";

/** The tools that check TypeScript, each with its output turned into problems. */
export const toolRules: readonly Rule[] = [
  toolRule("types", {
    command: "tsc",
    args: ["-p", ".", "--pretty", "false"],
    parse: typeProblem,
    remedy: "Fix the type",
  }),
  toolRule("page-types", {
    command: "tsc",
    args: ["-p", "console", "--pretty", "false"],
    parse: typeProblem,
    remedy: "Fix the type",
  }),
  toolRule("lint", {
    command: "oxlint",
    args: ["--type-aware", "-f", "unix", "."],
    parse: lintProblem,
    remedy: "Fix the code; a rule is switched off only by an ADR",
  }),
  toolRule("format", { command: "oxfmt", args: ["--list-different"], parse: formatProblem, remedy: "npm run format" }),
  toolRule("unused", {
    command: "knip",
    args: ["--no-progress", "--no-config-hints", "--reporter", "github-actions"],
    parse: unusedProblem,
    remedy: "Delete it, or only the word export; a file that is started by its name is an entry in knip.json",
  }),
];

interface Tool {
  readonly command: string;
  readonly args: readonly string[];
  /** Reads one line of the tool's output. */
  parse(line: string): Omit<Problem, "remedy"> | undefined;
  readonly remedy: string;
}

export function toolRule(name: string, tool: Tool): Rule {
  return {
    name,
    async run(tree): Promise<RuleOutcome> {
      const { exitCode, output } = await capture(tree.root, tool.command, tool.args);
      const problems = output.split("\n").flatMap((line): Problem[] => {
        const found = tool.parse(line);
        return found === undefined ? [] : [{ ...found, remedy: tool.remedy }];
      });
      // Lint repeats an error of the type check at every use.
      const own = problems.filter((problem) => !/\berror[`"]? (?:type )?typed\b|of type error\./.test(problem.message));
      // A tool that fails without a finding we understand has crashed or is misconfigured: never a pass.
      if (exitCode !== 0 && problems.length === 0) {
        const message = `${tool.command} ended with ${exitCode}: ${output.trim().slice(0, 2_000)}`;
        return { problems: [{ file: tool.command, line: 0, message, remedy: "Run npm ci, then the tool by hand" }] };
      }
      return { problems: own };
    },
  };
}

interface Captured {
  readonly exitCode: number;
  readonly output: string;
}

/** Runs a program of node_modules/.bin or PATH and keeps its output of both streams. */
export function capture(root: string, command: string, args: readonly string[]): Promise<Captured> {
  const path = `${join(root, "node_modules", ".bin")}:${process.env["PATH"] ?? ""}`;
  return new Promise((resolve) => {
    const chunks: Buffer[] = [];
    const child = spawn(command, args, { cwd: root, env: { ...process.env, PATH: path, NO_COLOR: "1" } });
    child.stdout.on("data", (chunk: Buffer) => chunks.push(chunk));
    child.stderr.on("data", (chunk: Buffer) => chunks.push(chunk));
    child.on("error", (error) => resolve({ exitCode: 127, output: error.message }));
    child.on("close", (code) => resolve({ exitCode: code ?? 1, output: Buffer.concat(chunks).toString("utf8") }));
  });
}

function typeProblem(line: string): Omit<Problem, "remedy"> | undefined {
  const match = /^(.+?)\((\d+),\d+\): error (.*)$/.exec(line);
  return match === null ? undefined : { file: match[1] ?? "", line: Number(match[2]), message: match[3] ?? "" };
}

function lintProblem(line: string): Omit<Problem, "remedy"> | undefined {
  const match = /^(.+?):(\d+):\d+: (.* \[(?:Error|Warning)\/.*\])$/.exec(line);
  return match === null ? undefined : { file: match[1] ?? "", line: Number(match[2]), message: match[3] ?? "" };
}

function formatProblem(line: string): Omit<Problem, "remedy"> | undefined {
  const isPath = /^[\w./-]+\.[a-z]+$/.test(line);
  return isPath ? { file: line, line: 0, message: "not formatted" } : undefined;
}

function unusedProblem(line: string): Omit<Problem, "remedy"> | undefined {
  const match = /^::error file=(.+?),line=(\d+),.*title=.*Knip \/ (.+?)::(.*?)(?: in \S+)?$/u.exec(line);
  if (match === null) return undefined;
  return { file: match[1] ?? "", line: Number(match[2]), message: `${match[3]}: ${match[4]}` };
}
