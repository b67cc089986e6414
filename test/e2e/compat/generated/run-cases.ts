import { Attempt, type Side } from "./deed.ts";
import { isReal, type GeneratedCase } from "./generated-case.ts";
import { leftByContainer } from "./leftovers.ts";
import type { Stage } from "./stage.ts";
import { repeat, Tally } from "./tally.ts";

/** Cases at a time. They mostly wait for each other's plugins. */
const lanes = 6;

interface Done {
  readonly one: GeneratedCase;
  readonly theirs: Attempt;
  readonly ours: Attempt;
  readonly statuses: readonly (string | undefined)[];
}

/** Gives every case to both, and compares. */
export async function runCases(stage: Stage, cases: readonly GeneratedCase[]): Promise<Tally> {
  const all = await inLanes(cases, (one) => runCase(stage, one));
  const left = await leftByContainer(stage);
  const tally = new Tally();
  for (const { one, theirs, ours, statuses } of all) {
    const [theirStatus, ourStatus] = statuses;
    tally.add(
      one,
      await theirs.deed(theirStatus, left.get(theirs.name) ?? []),
      await ours.deed(ourStatus, left.get(ours.name) ?? []),
    );
  }
  return tally;
}

async function runCase(stage: Stage, one: GeneratedCase): Promise<Done> {
  const [theirs, ours] = [new Attempt(stage, one, "m"), new Attempt(stage, one, "l")];
  // Real devices of one name or MAC address would meet on the machine.
  if (isReal(one)) {
    const statuses = [await alone(theirs), await alone(ours)];
    return { one, theirs, ours, statuses };
  }
  await Promise.all([theirs.add(), ours.add()]);
  const theirStatus = await theirs.status();
  if (theirStatus !== undefined && ours.isServed) await ours.untilStatus();
  const statuses = [theirStatus, await ours.status()];
  await Promise.all([theirs.delete(), ours.delete()]);
  return { one, theirs, ours, statuses };
}

/** Attaches and deletes; gives the status in between. */
async function alone(attempt: Attempt): Promise<string | undefined> {
  await attempt.add();
  if (attempt.isServed) await attempt.untilStatus();
  const status = await attempt.status();
  await attempt.delete();
  return status;
}

/** Pods that one attaches and the other deletes; gives how many there were, and what is left of them. */
export async function runMigrations(
  stage: Stage,
  cases: readonly GeneratedCase[],
  [from, to]: readonly [Side, Side],
): Promise<{ readonly count: number; readonly left: readonly string[] }> {
  const all = await inLanes(cases, async (one) => {
    const attempt = new Attempt(stage, one, from);
    await attempt.add();
    if (from === "l" && attempt.isServed) await attempt.untilMirrored();
    await attempt.delete(to);
    return { one, attempt };
  });
  const left = await leftByContainer(stage);
  const deeds = await Promise.all(
    all.map(async ({ one, attempt }) => ({ one, deed: await attempt.deed(undefined, left.get(attempt.name) ?? []) })),
  );
  const served = deeds.filter(({ deed }) => deed.isServed);
  // Levee still runs here, with its record, and repairs Multus' files: on a node that Levee has left there is neither.
  const isLeft = (what: string): boolean => from === "m" || !/^record|file$/u.test(what);
  return {
    count: served.length,
    left: served.flatMap(({ one, deed }) => deed.left.filter(isLeft).map((what) => `${what} with ${repeat(one)}`)),
  };
}

async function inLanes<T, R>(list: readonly T[], run: (item: T) => Promise<R>): Promise<readonly R[]> {
  const waiting = list.values();
  const done: R[] = [];
  const lane = async (): Promise<void> => {
    for (const item of waiting) done.push(await run(item));
  };
  await Promise.all(Array.from({ length: lanes }, lane));
  return done;
}
