import { runStory } from "./run-story.ts";
import { storyOfSeed, type Story } from "./story.ts";
import type { StoryKind } from "./story-kind.ts";

/** Stories of one node: pods that come and go, with the daemon's own code. */
export const nodeStories: StoryKind<Story> = {
  name: "node",
  lists: ["pods", "faults"],
  ofSeed: storyOfSeed,
  run: runStory,
};
