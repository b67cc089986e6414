import { LeveeError, type ErrorCode } from "../base/errors.ts";

/** One thing to change in a configuration, with what is needed to change it. */
export interface ConfigProblem {
  /** The key as it stands in the file; with a place such as `delegates[1]` where the key alone would not do. */
  readonly key: string;
  /** The value found there, shortened. */
  readonly seen: string;
  /** What to write instead. */
  readonly remedy: string;
}

/** All problems of one configuration at once: nobody should have to restart a daemon five times to learn of five slips. */
export class ConfigError extends LeveeError {
  readonly problems: readonly ConfigProblem[];
  readonly #what: string;

  constructor(code: ErrorCode, what: string, problems: readonly ConfigProblem[]) {
    super(code, `Cannot use ${what}: ${problems.map(sentence).join("; ")}`);
    this.problems = problems;
    this.#what = what;
  }

  /** For a person at a terminal: what cannot be used and the code, then a line for each problem. */
  get page(): string {
    const lines = this.problems.map((problem) => `\n  ${sentence(problem)}`);
    return `Cannot use ${this.#what} (${this.code})${lines.join("")}`;
  }
}

/** The value seen, in one short line: an error never carries a configuration's body. */
export function shorten(text: string): string {
  const line = text.replace(/\s+/gu, " ").trim();
  return line.length > 60 ? `${line.slice(0, 60)}…` : line;
}

/** Where an offset (in UTF-16 units) is for a person with an editor; both numbers start at 1. */
export function lineAndColumn(text: string, offset: number): { readonly line: number; readonly column: number } {
  const before = text.slice(0, offset).split(/\r\n|\n|\r/u);
  return { line: before.length, column: [...(before.at(-1) ?? "")].length + 1 };
}

function sentence(problem: ConfigProblem): string {
  return `${problem.key} is ${problem.seen}, ${problem.remedy}`;
}
