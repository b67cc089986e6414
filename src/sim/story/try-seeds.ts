import type { Clock } from "../../base/clock.ts";
import type { Broken } from "./invariants.ts";
import type { ShrinkWatch } from "./shrink.ts";
import type { ShortStory, StoryPlayer } from "./story-player.ts";

interface SeedRange extends ShrinkWatch {
  readonly from: number;
  readonly count: number;
  /** No new seed begins after this much real time. */
  readonly msMax: number;
}

/** A seed whose story broke a rule. */
export interface BrokenSeed {
  readonly seed: number;
  /** The kind of its story. */
  readonly kind: string;
  readonly broken: readonly Broken[];
  /** The shortest story that breaks the same rule. */
  readonly story: ShortStory;
}

/** How the seeds went. */
export interface SeedsEnd {
  readonly seeds: number;
  readonly steps: number;
  readonly simulatedMs: number;
  /** The first seed that broke a rule. */
  readonly failure: BrokenSeed | undefined;
}

/**
 * Plays a story of each kind for many seeds, one after the other, until one breaks a rule or somebody interrupts it.
 * `clock` is the real one.
 */
export async function trySeeds(
  { from, count, msMax, ...watch }: SeedRange,
  players: readonly StoryPlayer[],
  clock: Clock,
  onSeed: (done: number) => void,
): Promise<SeedsEnd> {
  const endsMs = clock.monotonicMs() + msMax;
  let [seeds, steps, simulatedMs] = [0, 0, 0];
  const isOver = (): boolean =>
    seeds >= count || watch.isInterrupted?.() === true || (seeds > 0 && clock.monotonicMs() >= endsMs);
  while (!isOver()) {
    const seed = from + seeds;
    seeds += 1;
    for (const player of players) {
      const { end, shortest } = await player.play(seed);
      steps += end.steps;
      simulatedMs += end.simulatedMs;
      const [first] = end.broken;
      if (first === undefined) continue;
      const failure = { seed, kind: player.name, broken: end.broken, story: await shortest(first, watch) };
      return { seeds, steps, simulatedMs, failure };
    }
    onSeed(seeds);
  }
  return { seeds, steps, simulatedMs, failure: undefined };
}

/** The file of its shortest story among the tests. */
export function keptStoryName({ seed, kind, broken }: BrokenSeed): string {
  return `${broken[0]?.rule ?? "story"}-${kind}-${seed}.json`;
}

/** What a person reads about a failure: what broke, the shortest story, and how to keep it. */
export function brokenSeedText({ seed, kind, broken, story }: BrokenSeed): string {
  const rules = broken.slice(0, 5).map(({ rule, text }) => `  ${rule}: ${text}`);
  return [
    `Seed ${seed} broke ${broken.length === 1 ? "a rule" : `${broken.length} rules`} in its ${kind} story:`,
    ...rules,
    `Its shortest story has ${story.size}:`,
    story.text,
    `See all that happens in it: npm run sim -- --kind ${kind} --seed ${seed} --log`,
    `Keep it as a test: npm run sim -- --kind ${kind} --from ${seed} --seeds 1 --keep`,
  ].join("\n");
}
