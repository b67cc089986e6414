import { expect, test } from "bun:test";
import type { StoryEntry } from "../../src/wire/console-story.ts";
import { storyLine } from "./story-bars.ts";

const entry = (atMs: number, tookMs?: number): StoryEntry => ({
  atMs,
  what: "ran",
  text: "",
  isFailure: false,
  verb: "ADD",
  ...(tookMs === undefined ? {} : { tookMs }),
});

test("storyLine draws a span up to its end", () => {
  const { startMs, endMs, bars } = storyLine([entry(1_000), entry(1_500, 500), entry(2_000)]);
  expect([startMs, endMs]).toEqual([1_000, 2_000]);
  expect(bars.map(({ from, to }) => [from, to])).toEqual([
    [0, 0],
    [0, 0.5],
    [1, 1],
  ]);
});

test("storyLine shows the last try only, and nothing of nothing", () => {
  expect(storyLine([entry(1_000), entry(100_000), entry(101_000)]).bars).toHaveLength(2);
  expect(storyLine([])).toEqual({ startMs: 0, endMs: 0, bars: [] });
  expect(storyLine([entry(5)]).bars[0]).toMatchObject({ from: 0, to: 0 });
});
