import type { Broken } from "./invariants.ts";
import type { StoryEnd } from "./run-story.ts";
import { shortestStory, type ShrinkWatch } from "./shrink.ts";
import type { StoryKind } from "./story-kind.ts";

/** A story that was played. */
interface PlayedStory {
  readonly end: StoryEnd;
  /** The shortest story that breaks this rule. */
  readonly shortest: (first: Broken, watch?: ShrinkWatch) => Promise<ShortStory>;
}

/** The shortest story found, for people. */
export interface ShortStory {
  /** One line of JSON. */
  readonly text: string;
  /** `3 pods and 1 faults`. */
  readonly size: string;
}

/** Plays stories of one kind. */
export interface StoryPlayer {
  readonly name: string;
  play(seed: number, linesMax?: number): Promise<PlayedStory>;
}

export function storyPlayer<S extends object>(kind: StoryKind<S>): StoryPlayer {
  return {
    name: kind.name,
    async play(seed, linesMax) {
      const story = kind.ofSeed(seed);
      const end = await kind.run(story, linesMax);
      return { end, shortest: async (first, watch) => shortText(kind, await shortestStory(kind, story, first, watch)) };
    },
  };
}

function shortText<S extends object>({ lists }: StoryKind<S>, story: S): ShortStory {
  const sizes = lists.map((list) => `${(story[list] as readonly unknown[]).length} ${list}`);
  return { text: JSON.stringify(story), size: sizes.join(" and ") };
}
