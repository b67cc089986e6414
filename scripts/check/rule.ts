import type { Tree } from "./tree.ts";

/** Something that breaks a rule: where, what, and what to do about it. */
export interface Problem {
  readonly file: string;
  /** 1-based; 0 when the problem is the file as a whole. */
  readonly line: number;
  readonly message: string;
  readonly remedy: string;
}

/** A rule of the repository as a program. */
export interface Rule {
  readonly name: string;
  run(tree: Tree): Promise<RuleOutcome>;
}

export interface RuleOutcome {
  readonly problems: readonly Problem[];
  /** What the rule could not check, and why. Absent when it checked everything. */
  readonly skipped?: string;
}

/** A rule that needs nothing but the files. */
export function fileRule(name: string, find: (tree: Tree) => readonly Problem[]): Rule {
  return { name, run: (tree) => Promise.resolve({ problems: find(tree) }) };
}
