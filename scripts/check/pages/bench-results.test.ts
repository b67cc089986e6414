import { describe, expect, test } from "bun:test";
import { numbersBlock, resultsBlock, stormBlock } from "../../../bench/result-blocks.ts";
import { benchResults } from "./bench-results.ts";
import { plantedTree } from "../tree.ts";

async function problems(files: Readonly<Record<string, string>>): Promise<readonly string[]> {
  return (await benchResults.run(plantedTree(files))).problems.map(({ message }) => message);
}

const nothing = (): undefined => undefined;
const inStep = {
  "README.md": `x\n${numbersBlock(nothing)}\ny\n${stormBlock(nothing)}\nz`,
  "docs/bench.md": `x\n${resultsBlock(nothing)}\ny`,
};

describe("benchResults", () => {
  test("holds while the pages have the blocks of the results", async () => {
    expect(await problems(inStep)).toEqual([]);
  });

  test("finds a block that was written by hand, and a page without one", async () => {
    const changed = inStep["README.md"].replace("Nothing has been measured yet", "219 of 219");
    expect(await problems({ ...inStep, "README.md": changed })).toEqual(["README.md shows other results"]);
    expect(await problems({ ...inStep, "docs/bench.md": "x" })).toEqual([
      "docs/bench.md has no place for the results of the bench",
    ]);
  });
});
