import type { Clock } from "../../base/clock.ts";
import type { Broken } from "./invariants.ts";
import { runStory } from "./run-story.ts";
import { shrinkStory } from "./shrink.ts";
import { storyOfSeed, type Story } from "./story.ts";

interface SeedRange {
  readonly from: number;
  readonly count: number;
  /** No new seed begins after this much real time. */
  readonly msMax: number;
}

/** A seed whose story broke a rule. */
export interface BrokenSeed {
  readonly seed: number;
  readonly broken: readonly Broken[];
  /** The shortest story that breaks the same rule. */
  readonly story: Story;
}

/** How the seeds went. */
export interface SeedsEnd {
  readonly seeds: number;
  readonly steps: number;
  readonly simulatedMs: number;
  /** The first seed that broke a rule. */
  readonly failure: BrokenSeed | undefined;
}

/** Plays the stories of many seeds, one after the other, until one breaks a rule. `clock` is the real one. */
export async function trySeeds(
  { from, count, msMax }: SeedRange,
  clock: Clock,
  onSeed: (done: number) => void,
): Promise<SeedsEnd> {
  const endsMs = clock.monotonicMs() + msMax;
  let [seeds, steps, simulatedMs] = [0, 0, 0];
  while (seeds < count && (seeds === 0 || clock.monotonicMs() < endsMs)) {
    const seed = from + seeds;
    const story = storyOfSeed(seed);
    const end = await runStory(story);
    seeds += 1;
    steps += end.steps;
    simulatedMs += end.simulatedMs;
    const [first] = end.broken;
    if (first !== undefined)
      return {
        seeds,
        steps,
        simulatedMs,
        failure: { seed, broken: end.broken, story: await shrinkStory(story, first) },
      };
    onSeed(seeds);
  }
  return { seeds, steps, simulatedMs, failure: undefined };
}

/** What a person reads about a failure: what broke, the shortest story, and how to keep it. */
export function brokenSeedText({ seed, broken, story }: BrokenSeed): string {
  const rules = broken.slice(0, 5).map(({ rule, text }) => `  ${rule}: ${text}`);
  return [
    `Seed ${seed} broke ${broken.length === 1 ? "a rule" : `${broken.length} rules`}:`,
    ...rules,
    `Its shortest story has ${story.pods.length} pods and ${story.faults.length} faults:`,
    JSON.stringify(story),
    `See all that happens in it: npm run sim -- --seed ${seed} --log`,
    "Keep it as a test: save that line as test/sim/stories/NAME.json",
  ].join("\n");
}
