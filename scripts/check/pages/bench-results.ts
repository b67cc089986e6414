import { readmeBlock, withBlock } from "../../../bench/readme-block.ts";
import { fileRule } from "../rule.ts";
import type { Tree } from "../tree.ts";

const remedy = "Run npm run bench, or bun bench/main.ts --readme to write the block from the results that are there";

/** README.md shows what `bench/results/` holds, and nothing else. */
export const benchResults = fileRule("bench-results", (tree: Tree) => {
  const readme = tree.read("README.md") ?? "";
  const block = readmeBlock((name) => tree.read(`bench/results/${name}`));
  const wanted = withBlock(readme, block);
  if (wanted === readme) return [];
  const message =
    wanted === undefined ? "README.md has no place for the results of the bench" : "README.md shows other results";
  return [{ file: "README.md", line: 0, message, remedy }];
});
