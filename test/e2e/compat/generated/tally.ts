import type { Deed } from "./deed.ts";
import { differences, type Difference } from "./differences.ts";
import type { GeneratedCase } from "./generated-case.ts";
import { rules, type Pair } from "./rules.ts";

/** One kind's counts. */
interface KindCounts {
  cases: number;
  served: number;
  refused: number;
  /** Cases in which one of the two serves what the other refuses, on purpose. */
  apart: number;
}

/** Counts cases by kind and differences by rule, and keeps what no rule explains. */
export class Tally {
  readonly kinds = new Map<string, KindCounts>();
  /** Cases in which a rule was needed, by its row. */
  readonly rows = new Map<string, number>(rules.map(({ row }) => [row, 0]));
  readonly faults: string[] = [];

  add(one: GeneratedCase, theirs: Deed, ours: Deed): void {
    this.#count(one.kind, theirs, ours);
    const pair = { one, theirs, ours };
    const rowsOfCase = new Set<string>();
    const unexplained: Difference[] = [];
    for (const difference of differences(theirs, ours)) {
      const rule = rules.find(({ explains }) => explains(difference, pair));
      if (rule === undefined) unexplained.push(difference);
      else rowsOfCase.add(rule.row);
    }
    for (const row of rowsOfCase) this.rows.set(row, (this.rows.get(row) ?? 0) + 1);
    if (unexplained.length > 0) this.faults.push(fault(unexplained, pair));
  }

  #count(kind: string, theirs: Deed, ours: Deed): void {
    const counts = this.kinds.get(kind) ?? { cases: 0, served: 0, refused: 0, apart: 0 };
    this.kinds.set(kind, counts);
    counts.cases += 1;
    if (theirs.isServed !== ours.isServed) counts.apart += 1;
    else if (ours.isServed) counts.served += 1;
    else counts.refused += 1;
  }
}

/** What a person needs to see of a case, and how to have it again. */
function fault(unexplained: readonly Difference[], { one, theirs, ours }: Pair): string {
  const { kind, namespace, annotations, conf, definitions } = one;
  const lines = unexplained.map(
    ({ at, theirs: a, ours: b }) => `  ${at}\n    Multus: ${JSON.stringify(a)}\n    Levee:  ${JSON.stringify(b)}`,
  );
  const answers = [theirs, ours].map(({ isServed, answer }) => (isServed ? "served" : answer.slice(-300)));
  return [
    `${kind}: ${repeat(one)}`,
    ...lines,
    `  Multus: ${answers[0]}`,
    `  Levee: ${answers[1]}`,
    `  ${JSON.stringify({ namespace, annotations, conf, definitions })}`,
  ].join("\n");
}

/** The command that runs a case alone. */
export function repeat({ seed }: GeneratedCase): string {
  return `LEVEE_SEED=${seed} LEVEE_TURNS=1 npm run e2e -- compat-generated`;
}
