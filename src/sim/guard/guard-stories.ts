import type { StoryKind } from "../story/story-kind.ts";
import { guardStoryOfSeed, type GuardStory } from "./guard-story.ts";
import { runGuardStory } from "./run-guard-story.ts";

/** Stories of a cluster and its guards, with the guard's own code. `policies` are those of deploy/policies. */
export function guardStories(policies: readonly object[]): StoryKind<GuardStory> {
  return {
    name: "guard",
    lists: ["acts", "faults"],
    ofSeed: guardStoryOfSeed,
    run: (story, linesMax) => runGuardStory(story, policies, linesMax),
  };
}
