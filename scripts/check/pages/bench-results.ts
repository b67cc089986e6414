import { shownBlocks, withBlock } from "../../../bench/result-blocks.ts";
import { fileRule } from "../rule.ts";
import type { Tree } from "../tree.ts";

const remedy = "Run npm run bench, or npm run bench -- --readme to write the pages from the results that are there";

/** README.md and docs/bench.md show exactly the results in `bench/results/`. */
export const benchResults = fileRule("bench-results", (tree: Tree) =>
  shownBlocks.flatMap(({ file, block }) => {
    const page = tree.read(file) ?? "";
    const wanted = withBlock(
      page,
      block((name) => tree.read(`bench/results/${name}`)),
    );
    if (wanted === page) return [];
    const message =
      wanted === undefined ? `${file} has no place for the results of the bench` : `${file} shows other results`;
    return [{ file, line: 0, message, remedy }];
  }),
);
