import type { StoryEnd } from "./run-story.ts";

/** A kind of story: what a seed makes of it, and how it is played. */
export interface StoryKind<S extends object> {
  readonly name: string;
  /** The lists of a story that may be left out in part, in the order in which people read of them. */
  readonly lists: readonly (keyof S & string)[];
  readonly ofSeed: (seed: number) => S;
  readonly run: (story: S, linesMax?: number) => Promise<StoryEnd>;
}
