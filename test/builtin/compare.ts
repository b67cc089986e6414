import type { Case, Server, Step, Upstream } from "./case.ts";
import { Names, snapshot } from "./snapshot.ts";
import { isUnsupported, World, type Answer } from "./world.ts";

/** The lines in which a case differs, and whether its first call went well. */
export interface Comparison {
  readonly difference: readonly string[];
  readonly isGood: boolean;
}

/**
 * Plays a case with the program alone, then with the built-in plugin alone and with both in turns. All must say the same
 * and leave the same behind. Undefined if the built-in plugin leaves the case to the program.
 */
export async function compare(lane: string, upstream: Upstream, of: Case): Promise<Comparison | undefined> {
  const builtIn = await play(lane, upstream, of, () => "built-in");
  if (builtIn === undefined) return undefined;
  const program = (await play(lane, upstream, of, () => "program")) ?? [];
  const isOdd = of.seed % 2 === 1;
  const inTurns = (await play(lane, upstream, of, (at) => ((at % 2 === 1) === isOdd ? "built-in" : "program"))) ?? [];
  const difference = [...differing(program, builtIn, "built in"), ...differing(program, inTurns, "in turns")];
  return { difference, isGood: program[0]?.endsWith(" exit 0") === true };
}

/** All that was said and seen. Undefined if the built-in plugin served no step. */
async function play(
  lane: string,
  upstream: Upstream,
  of: Case,
  server: (at: number) => Server,
): Promise<readonly string[] | undefined> {
  await using world = await World.make(lane, upstream, of);
  const names = new Names(JSON.stringify(of));
  const lines: string[] = [];
  for (const [at, step] of of.steps.entries()) {
    const by = server(at);
    const untouched = by === "built-in" && at === 0 ? await snapshot(world) : undefined;
    const answer = await callEither(world, step, by, at > 0 && of.mayLeaveLater === true);
    if (isUnsupported(answer)) {
      // Only the first step can tell: a program may have made what the built-in plugin does not know.
      if (untouched === undefined)
        throw new Error(`step ${at} (${step.command}) was refused after ADD: ${answer.stderr}`);
      const now = names.plainSnapshot(await snapshot(world)).join("\n");
      const changed = names.plainSnapshot(untouched).join("\n") === now ? [] : ["a refused call changed something"];
      return changed.length === 0 ? undefined : changed;
    }
    lines.push(...said(`${at} ${step.command}`, answer, names));
    if (step.command !== "CHECK")
      lines.push(...names.plainSnapshot(await snapshot(world)).map((line) => `${at} ${line}`));
  }
  return lines;
}

/** As on a node: what the built-in plugin refuses later than in the first ADD, the program serves. */
async function callEither(world: World, step: Step, by: Server, mayLeave: boolean): Promise<Answer> {
  const answer = await world.call(step, by);
  const { command, id, ifname } = step;
  return mayLeave && isUnsupported(answer) ? world.call({ command, id, ifname }, "program") : answer;
}

function said(label: string, answer: Answer, names: Names): readonly string[] {
  return [
    `${label} exit ${answer.exit}`,
    ...names
      .plain(answer.stdout)
      .split("\n")
      .map((line) => `${label} ${line}`),
  ];
}

function differing(expected: readonly string[], seen: readonly string[], who: string): readonly string[] {
  const [expectedSet, seenSet] = [new Set(expected), new Set(seen)];
  const missing = expected.filter((line) => !seenSet.has(line)).map((line) => `${who} -${line}`);
  const extra = seen.filter((line) => !expectedSet.has(line)).map((line) => `${who} +${line}`);
  const isMoved = missing.length + extra.length === 0 && expected.join("\n") !== seen.join("\n");
  return isMoved ? [`${who}: the same lines in another order`] : [...missing, ...extra];
}
