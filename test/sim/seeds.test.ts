import { describe, expect, test } from "bun:test";
import { spawnSync } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { systemClock } from "../../src/base/clock.ts";
import { isKeptGuardStory, readKeptStory } from "../../src/sim/story/read-kept-story.ts";
import { installedPolicies } from "../../src/guard/approve/policies.fixture.ts";
import { guardStories } from "../../src/sim/guard/guard-stories.ts";
import { readKeptGuardStory } from "../../src/sim/guard/read-kept-guard-story.ts";
import { nodeStories } from "../../src/sim/story/node-stories.ts";
import { storyOfSeed } from "../../src/sim/story/story.ts";
import { storyPlayer } from "../../src/sim/story/story-player.ts";
import { brokenSeedText, trySeeds } from "../../src/sim/story/try-seeds.ts";

const root = resolve(import.meta.dirname, "../..");
const stories = join(import.meta.dirname, "stories");
/** Real time for seeds. `npm run sim` takes as many as one likes. */
const seedsMs = { alone: 25_000, ofCi: 60_000 };
/** A seed that breaks a rule is then played up to 300 times, to find its shortest story. */
const testMs = 600_000;
/** Seeds of commits begin above those that every run plays. */
const commitSeedsFrom = 1_000;
const usualSeed = 6;
/** Of node stories. */
const seedsWith = { hardware: 13, powerCut: 4 } as const;
const isCi = process.env["CI"] === "true";
const guards = guardStories(installedPolicies("2020-01-01T00:00:00Z"));
const players = [storyPlayer(nodeStories), storyPlayer(guards)];

/** Plays as many seeds as fit, and fails with the seed and its shortest story. */
async function expectNoneBroken(from: number): Promise<void> {
  const range = { from, count: 500, msMax: isCi ? seedsMs.ofCi : seedsMs.alone };
  const { failure, seeds } = await trySeeds(range, players, systemClock, () => undefined);
  console.log(`${seeds} seeds from ${from}`);
  expect(failure === undefined ? "" : brokenSeedText(failure)).toBe("");
  expect(seeds).toBeGreaterThan(0);
}

async function expectOneRun(kind: string, seed: number): Promise<void> {
  const run = async (): Promise<string> => {
    const args = ["scripts/sim.ts", "--kind", kind, "--seed", String(seed)];
    return await new Response(Bun.spawn([process.execPath, ...args], { cwd: root }).stdout).text();
  };
  const [first, second] = await Promise.all([run(), run()]);
  expect(first).toContain("Every rule held; ");
  expect(second).toBe(first);
  const player = players.find(({ name }) => name === kind);
  expect(first).toContain((await player?.play(seed))?.end.hash ?? "no such kind");
}

/** Every commit tries other seeds, and each run of a commit tries the same ones. A tree without git is one commit. */
function seedOfCommit(commit: string): number {
  const [digits = "0"] = /^[0-9a-f]{7}/u.exec(commit) ?? [];
  return commitSeedsFrom + Number.parseInt(digits, 16);
}

describe("trySeeds", () => {
  test("no story breaks a rule", async () => expectNoneBroken(Number(process.env["LEVEE_SEED"] ?? 1)), testMs);

  test.if(isCi)(
    "nor does one of the seeds of this commit",
    async () => {
      const { stdout } = spawnSync("git", ["rev-parse", "HEAD"], { cwd: root, encoding: "utf8" });
      await expectNoneBroken(seedOfCommit(stdout));
    },
    testMs,
  );

  test("the seeds of two commits differ, and are none of the usual ones", () => {
    expect(["0000001abc\n", "fffffff123\n", ""].map(seedOfCommit)).toEqual([1_001, 268_436_455, 1_000]);
  });
});

describe("a story", () => {
  for (const name of readdirSync(stories).toSorted()) {
    test(`${name} breaks no rule`, async () => {
      const text = readFileSync(join(stories, name), "utf8");
      const end = isKeptGuardStory(text)
        ? await guards.run(readKeptGuardStory(text))
        : await nodeStories.run(readKeptStory(text));
      expect(end.broken).toEqual([]);
    }, 60_000);
  }

  test.each(["node", "guard"])(
    "of one seed has one run, byte for byte, also in other processes at the same time: %s",
    async (kind) => {
      for (const seed of kind === "node" ? [usualSeed, ...Object.values(seedsWith)] : [usualSeed])
        await expectOneRun(kind, seed);
    },
    60_000,
  );

  test("of these seeds has hardware, or a power cut", () => {
    expect(storyOfSeed(seedsWith.hardware).machine).toBeDefined();
    expect(storyOfSeed(seedsWith.powerCut).faults.map(({ kind }) => kind)).toContain("cut-power");
  });

  test.each([
    ["{", "Cannot read the story as it must be JSON"],
    ['{"seed":1,"calmAtMs":2,"pods":[{"name":1}],"faults":[]}', "pods[0].name must be a text: current value is 1"],
    [
      '{"kind":"guard","seed":1,"calmAtMs":2}',
      "guards must be a number that is not negative: current value is nothing",
    ],
  ])("that cannot be read is refused with what is wrong, and is no broken rule: %s", (text, message) => {
    const folder = mkdtempSync(join(tmpdir(), "levee-story-"));
    try {
      writeFileSync(join(folder, "story.json"), text);
      const args = ["scripts/sim.ts", "--story", join(folder, "story.json")];
      const { status, stderr } = spawnSync(process.execPath, args, { cwd: root, encoding: "utf8" });
      expect(status).toBe(2);
      expect(stderr).toStartWith("Error: Cannot read the story as ");
      expect(stderr).toContain(message);
      expect(stderr).not.toContain("    at ");
    } finally {
      rmSync(folder, { recursive: true });
    }
  });

  test("of another seed has another run", async () => {
    for (const player of players) expect((await player.play(10)).end.hash).not.toBe((await player.play(12)).end.hash);
  }, 60_000);
});
