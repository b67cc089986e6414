import { describe, expect, test } from "bun:test";
import { readdirSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { systemClock } from "../../src/base/clock.ts";
import { readKeptStory } from "../../src/sim/story/read-kept-story.ts";
import { runStory } from "../../src/sim/story/run-story.ts";
import { storyOfSeed } from "../../src/sim/story/story.ts";
import { brokenSeedText, trySeeds } from "../../src/sim/story/try-seeds.ts";

const root = resolve(import.meta.dirname, "../..");
const stories = join(import.meta.dirname, "stories");
/** Real time for seeds. `npm run sim` takes as many as one likes. */
const seedsMs = 25_000;

describe("trySeeds", () => {
  test("no story breaks a rule", async () => {
    const from = Number(process.env["LEVEE_SEED"] ?? 1);
    const { failure, seeds } = await trySeeds({ from, count: 500, msMax: seedsMs }, systemClock, () => undefined);
    expect(failure === undefined ? "" : brokenSeedText(failure)).toBe("");
    expect(seeds).toBeGreaterThan(0);
  }, 120_000);
});

describe("runStory", () => {
  for (const name of readdirSync(stories).toSorted()) {
    test(`${name} breaks no rule`, async () => {
      const story = readKeptStory(readFileSync(join(stories, name), "utf8"));
      expect((await runStory(story)).broken).toEqual([]);
    }, 60_000);
  }

  test("one seed gives one run, byte for byte, also in another process", async () => {
    const run = (): string =>
      Bun.spawnSync([process.execPath, "scripts/sim.ts", "--seed", "6"], { cwd: root }).stdout.toString();
    const [first, second] = [run(), run()];
    expect(first).toContain("Every rule held; ");
    expect(second).toBe(first);
    const { hash } = await runStory(storyOfSeed(6));
    expect(first).toContain(hash);
  }, 60_000);

  test("another seed gives another run", async () => {
    expect((await runStory(storyOfSeed(10))).hash).not.toBe((await runStory(storyOfSeed(12))).hash);
  }, 60_000);
});
