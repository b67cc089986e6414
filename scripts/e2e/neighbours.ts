/**
 * Runs neighbours: real programs of others, one after the other, each on a cluster of its own so that none disturbs the
 * next. A neighbour whose programs cannot be had is named as not run, and the run does not count as good.
 */
import type { Neighbour } from "../../test/e2e/neighbour-names.ts";
import { addOutcomes, isGood, nothingRan, type Outcome } from "../test/outcome.ts";

export interface NotRun {
  readonly name: string;
  readonly reason: string;
}

export interface NeighboursOutcome extends Outcome {
  readonly notRun: readonly NotRun[];
}

export async function runNeighbours(
  asked: readonly Neighbour[],
  runOne: (neighbour: Neighbour) => Promise<Outcome>,
): Promise<NeighboursOutcome> {
  let outcome = nothingRan;
  const notRun: NotRun[] = [];
  for (const neighbour of asked) {
    const lack = await lackOf(neighbour);
    if (lack === undefined) {
      console.log(`\n— ${neighbour.name}: ${neighbour.about}`);
      outcome = addOutcomes(outcome, await runOne(neighbour));
    } else {
      notRun.push({ name: neighbour.name, reason: lack });
    }
  }
  return { ...outcome, notRun };
}

/** Builds the programs of these neighbours and returns those that lack some. */
export async function buildNeighbours(asked: readonly Neighbour[]): Promise<readonly NotRun[]> {
  const notRun: NotRun[] = [];
  for (const neighbour of asked) {
    const reason = await lackOf(neighbour);
    if (reason !== undefined) notRun.push({ name: neighbour.name, reason });
  }
  return notRun;
}

export function notRunLines(notRun: readonly NotRun[]): readonly string[] {
  return notRun.map(({ name, reason }) => `not run: ${name}, as ${reason}`);
}

export function isWholeAndGood(outcome: NeighboursOutcome): boolean {
  return isGood(outcome) && outcome.notRun.length === 0;
}

/** The neighbours of these names, or all of them when none is named; the order of the list counts. */
export function chooseNeighbours(
  all: readonly Neighbour[],
  names: readonly string[],
): { readonly chosen: readonly Neighbour[]; readonly unknown: readonly string[] } {
  return {
    chosen: all.filter(({ name }) => names.length === 0 || names.includes(name)),
    unknown: names.filter((name) => !all.some((neighbour) => neighbour.name === name)),
  };
}

/** Why the neighbour cannot run, or undefined. */
async function lackOf({ peers }: Neighbour): Promise<string | undefined> {
  const lacks: string[] = [];
  for (const peer of peers) {
    const built = await peer();
    if ("missing" in built) lacks.push(built.missing);
  }
  return lacks.length === 0 ? undefined : lacks.join("; ");
}
