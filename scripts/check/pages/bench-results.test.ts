import { describe, expect, test } from "bun:test";
import { blockBegin, blockEnd, readmeBlock } from "../../../bench/readme-block.ts";
import { benchResults } from "./bench-results.ts";
import { plantedTree } from "../tree.ts";

async function problems(files: Readonly<Record<string, string>>): Promise<readonly string[]> {
  return (await benchResults.run(plantedTree(files))).problems.map(({ message }) => message);
}

describe("benchResults", () => {
  test("holds while README.md has the block of the results", async () => {
    expect(await problems({ "README.md": `x\n${readmeBlock(() => undefined)}\ny` })).toEqual([]);
  });

  test("finds a block that was written by hand, and a README without one", async () => {
    const changed = `${blockBegin}\n219 of 219\n${blockEnd}`;
    expect(await problems({ "README.md": changed })).toEqual(["README.md shows other results"]);
    expect(await problems({ "README.md": "x" })).toEqual(["README.md has no place for the results of the bench"]);
  });
});
