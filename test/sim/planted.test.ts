import { afterAll, describe, expect, test } from "bun:test";
import { plantedBugs, type PlantedBug } from "./planted-bugs.ts";
import { PlantedTree } from "./planted-tree.fixture.ts";

const tree = new PlantedTree(
  "src",
  "deploy/policies",
  "scripts/sim.ts",
  "scripts/fleet",
  "package.json",
  "tsconfig.json",
);

afterAll(() => tree[Symbol.dispose]());

function sim(...args: readonly string[]): ReturnType<PlantedTree["bun"]> {
  return tree.bun("scripts/sim.ts", ...args);
}

/** By the seed that found it last. A change of the code may move it; then the first 500 seeds must have another one. */
function found({ name, kind = "node", rule, seed }: PlantedBug): ReturnType<typeof sim> {
  const known = sim("--kind", kind, "--seed", String(seed));
  if (known.output.includes(`${rule}: `)) return known;
  console.warn(`Seed ${seed} no longer finds that ${name}; looking for another one`);
  return sim("--kind", kind, "--seeds", "500");
}

describe("the simulator finds", () => {
  for (const bug of plantedBugs) {
    test(
      bug.name,
      () => {
        const { exitCode, output } = tree.withBug(bug, () => found(bug));
        expect(output).toContain(`${bug.rule}: `);
        expect(exitCode).toBe(1);
      },
      600_000,
    );
  }

  test("nothing in the tree as it is", () => {
    const stories = new Set(plantedBugs.map(({ kind = "node", seed }) => `--kind=${kind} --seed=${seed}`));
    for (const story of stories) expect(sim(...story.split(" ")).output).toStartWith("Every rule held");
  }, 300_000);

  test("the shortest story of a bug, and says how to keep it", () => {
    const [first] = plantedBugs;
    if (first === undefined) throw new Error("no bug is planted");
    const { exitCode, output } = tree.withBug(first, () => sim("--kind", "node", "--seeds", "500"));
    expect(exitCode).toBe(1);
    expect(output).toContain("Its shortest story has 1 pods and 0 faults:\n{");
    expect(output).toContain("Keep it as a test: save that line as test/sim/stories/NAME.json");
  }, 300_000);
});
