import { expect, test } from "bun:test";
import { existsSync } from "node:fs";
import { join, resolve } from "node:path";
import { neighbours, type Neighbour } from "../../test/e2e/neighbour-names.ts";
import { scenarios } from "../../test/e2e/scenario-names.ts";
import { buildNeighbours, chooseNeighbours, isWholeAndGood, notRunLines, runNeighbours } from "./neighbours.ts";
import { nothingRan, type Outcome } from "../test/outcome.ts";

const root = resolve(import.meta.dirname, "../..");
const passed: Outcome = { ...nothingRan, counts: { passed: 2, failed: 0 } };

function neighbour(name: string, ...missing: readonly string[]): Neighbour {
  const peers = missing.map((reason) => () => Promise.resolve({ missing: reason }));
  return { name, about: "", peers: [() => Promise.resolve({ folder: "/built" }), ...peers] };
}

test("each neighbour has a file of tests, and no scenario has its name", () => {
  for (const { name } of neighbours) {
    expect(existsSync(join(root, `test/e2e/neighbours/${name}.ts`))).toBe(true);
    expect(scenarios as readonly string[]).not.toContain(name);
  }
  expect(new Set(neighbours.map(({ name }) => name)).size).toBe(neighbours.length);
});

test("runNeighbours runs each that has its programs, and names the others with the reason", async () => {
  const ran: string[] = [];
  const outcome = await runNeighbours(
    [neighbour("a"), neighbour("b", "Go is not installed", "the disk is full"), neighbour("c")],
    ({ name }) => {
      ran.push(name);
      return Promise.resolve(passed);
    },
  );
  expect(ran).toEqual(["a", "c"]);
  expect(outcome.counts).toEqual({ passed: 4, failed: 0 });
  expect(notRunLines(outcome.notRun)).toEqual(["not run: b, as Go is not installed; the disk is full"]);
});

test("a run in which a neighbour did not run is not good, however many passed", async () => {
  const run = (...asked: readonly Neighbour[]): Promise<boolean> =>
    runNeighbours(asked, () => Promise.resolve(passed)).then(isWholeAndGood);
  expect(await run(neighbour("a"))).toBe(true);
  expect(await run(neighbour("a"), neighbour("b", "no network"))).toBe(false);
  expect(await run(neighbour("b", "no network"))).toBe(false);
});

test("a failed neighbour fails the run, and the next one runs all the same", async () => {
  const failed: Outcome = { ...nothingRan, counts: { passed: 1, failed: 1 }, failed: ["a breaks"] };
  const outcome = await runNeighbours([neighbour("a"), neighbour("b")], ({ name }) =>
    Promise.resolve(name === "a" ? failed : passed),
  );
  expect(outcome).toMatchObject({ counts: { passed: 3, failed: 1 }, failed: ["a breaks"], notRun: [] });
  expect(isWholeAndGood(outcome)).toBe(false);
});

test("buildNeighbours builds and runs nothing", async () => {
  expect(await buildNeighbours([neighbour("a"), neighbour("b", "no network")])).toEqual([
    { name: "b", reason: "no network" },
  ]);
});

test("chooseNeighbours: all without names, else those named, in the order of the list; unknown names are told", () => {
  const all = [neighbour("a"), neighbour("b"), neighbour("c")];
  const chosen = (...names: readonly string[]): readonly string[] =>
    chooseNeighbours(all, names).chosen.map(({ name }) => name);
  expect(chosen()).toEqual(["a", "b", "c"]);
  expect(chosen("c", "a")).toEqual(["a", "c"]);
  expect(chooseNeighbours(all, ["a", "x", "--fast"]).unknown).toEqual(["x", "--fast"]);
});
