import { LeveeError, type ErrorCode } from "../base/errors.ts";

/** One mistake in a configuration, with its remedy. */
export interface ConfigProblem {
  /** The key as written in the file, with an index such as `delegates[1]` inside a list. */
  readonly key: string;
  /** The value in the file, shortened. */
  readonly seen: string;
  /** What to write instead. */
  readonly remedy: string;
}

/** All problems of one configuration at once, so that five mistakes do not need five restarts. */
export class ConfigError extends LeveeError {
  readonly problems: readonly ConfigProblem[];
  readonly #what: string;

  constructor(code: ErrorCode, what: string, problems: readonly ConfigProblem[]) {
    super(code, `Cannot use ${what}: ${problems.map(sentence).join("; ")}`);
    this.problems = problems;
    this.#what = what;
  }

  /** For a terminal: the file and the code, then a line for each problem. */
  get page(): string {
    const lines = this.problems.map((problem) => `\n  ${sentence(problem)}`);
    return `Cannot use ${this.#what} (${this.code})${lines.join("")}`;
  }
}

/** A value in one short line. An error never carries the body of a configuration. */
export function shorten(text: string): string {
  const line = text.replace(/\s+/gu, " ").trim();
  return line.length > 60 ? `${line.slice(0, 60)}…` : line;
}

/** The place of an offset (in UTF-16 units) as an editor shows it. Both numbers start at 1. */
export function lineAndColumn(text: string, offset: number): { readonly line: number; readonly column: number } {
  const before = text.slice(0, offset).split(/\r\n|\n|\r/u);
  return { line: before.length, column: [...(before.at(-1) ?? "")].length + 1 };
}

function sentence(problem: ConfigProblem): string {
  return `${problem.key} is ${problem.seen}, ${problem.remedy}`;
}
