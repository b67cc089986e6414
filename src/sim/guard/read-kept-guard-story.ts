import { storyList, parseStory, requireTime, wrongField } from "../story/read-kept-story.ts";
import { guardFaultKinds, type ClusterAct, type GuardStory } from "./guard-story.ts";

/** Every kind of act. */
const guardActKinds: ReadonlySet<string> = new Set<ClusterAct["kind"]>([
  "avalanche",
  "runaway",
  "reboot-due",
  "alert",
  "policy-away",
  "alertmanager-away",
  "probe-fails",
  "probe-hangs",
  "node-down",
  "cordon",
  "daemon-silent",
  "word",
  "swap-pod",
  "start-pod",
  "drain",
  "rollout",
]);

/** Reads a story of guards that was kept in a file. Throws an error with the field, its value and the remedy. */
export function readKeptGuardStory(text: string): GuardStory {
  const story = parseStory(text);
  for (const key of ["seed", "calmAtMs", "guards"]) requireTime(story, key);
  for (const [list, kinds] of [
    ["acts", guardActKinds],
    ["faults", guardFaultKinds],
  ] as const)
    for (const [index, one] of storyList(story, list).entries()) {
      const at = `${list}[${index}]`;
      const { kind } = one;
      if (typeof kind !== "string" || !kinds.has(kind))
        throw wrongField(`${at}.kind`, kind, `one of ${[...kinds].join(", ")}`);
      requireTime(one, "atMs", at);
      for (const field of ["forMs", "everyMs"].filter((name) => one[name] !== undefined)) requireTime(one, field, at);
    }
  // Every field that a run needs has been looked at.
  return story as unknown as GuardStory;
}
