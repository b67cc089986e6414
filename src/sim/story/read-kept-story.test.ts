import { expect, test } from "bun:test";
import { readKeptStory } from "./read-kept-story.ts";
import { storyOfSeed } from "./story.ts";

test("readKeptStory gives back what was kept", () => {
  const story = storyOfSeed(6);
  expect(JSON.stringify(readKeptStory(JSON.stringify(story)))).toBe(JSON.stringify(story));
});

test.each([
  ["nothing", "{", "it must be JSON"],
  ["a list", "[]", "the whole must be an object"],
  ["no seed", "{}", "seed must be a number that is not negative: current value is nothing"],
  ["no pods", '{"seed":1,"calmAtMs":1}', "pods must be a list of objects"],
  [
    "a time as text",
    '{"seed":1,"calmAtMs":1,"pods":[{"name":"a","namespace":"b","networks":[],"atMs":"5"}],"faults":[]}',
    'pods[0].atMs must be a number that is not negative: current value is "5"',
  ],
  [
    "a machine without a limit",
    '{"seed":1,"calmAtMs":1,"pods":[],"faults":[],"machine":{"waitingMax":16}}',
    "machine.limitMib must be a number that is not negative: current value is nothing",
  ],
  [
    "an unknown fault",
    '{"seed":1,"calmAtMs":1,"pods":[],"faults":[{"kind":"flood","atMs":1}]}',
    "faults[0].kind must be one of kill-daemon",
  ],
])("readKeptStory refuses %s and says what is wrong", (_what, text, problem) => {
  expect(() => readKeptStory(text)).toThrow(problem);
});
