import { describe, expect, test } from "bun:test";
import { numbersBlock, resultsBlock, stormBlock, withBlock, type KeptCell } from "./result-blocks.ts";

const facts = { processor: "2 × Some", memory: "24 GiB", kernel: "6.1", date: "2026-01-02" };

function kept(name: string, holds: boolean): KeptCell {
  return {
    name,
    title: `The ${name}`,
    command: `npm run bench -- ${name}`,
    header: ["", "attached"],
    rows: [["Levee", "219"]],
    verdicts: [{ promise: "all attached", seen: "219", holds }],
    notes: [],
    facts,
  };
}

const files: Readonly<Record<string, string>> = {
  "kill2s.json": JSON.stringify(kept("kill2s", false)),
  "sim.json": JSON.stringify(kept("sim", true)),
  "node.json": JSON.stringify(kept("node", true)),
  "storm219.json": JSON.stringify(kept("storm219", true)),
  "storm219.svg": "<svg/>",
  "shim.svg": "<svg/>",
};
const machine = "2 × Some, 24 GiB, Linux 6.1, 2026-01-02";

describe("resultsBlock", () => {
  const block = resultsBlock((name) => files[name]);

  test("has a row per promise in the order of the targets", () => {
    expect(block).toContain(machine);
    expect(block.match(/^\| all attached .*$/gmu)).toEqual([
      "| all attached | 219 | ✓ | [storm219](../bench/results/storm219.md) |",
      "| all attached | 219 | ✗ | [kill2s](../bench/results/kill2s.md) |",
      "| all attached | 219 | ✓ | [node](../bench/results/node.md) |",
      "| all attached | 219 | ✓ | [sim](../bench/results/sim.md) |",
    ]);
  });

  test("has the tables of the storms, and the plots that are there", () => {
    expect(block.match(/^## .*$/gmu)).toEqual([
      "## The storm219",
      "## The node",
      "## The sim",
      "## One CNI call with nothing behind it: levee-shim and multus-shim",
    ]);
    expect(block.match(/src="[^"]*"/gu)).toEqual([
      'src="../bench/results/storm219.svg"',
      'src="../bench/results/shim.svg"',
    ]);
    expect(block.match(/^\| Levee \| 219 \|$/gmu)).toHaveLength(3);
  });
});

describe("stormBlock", () => {
  test("has one plot and one table, of the storm", () => {
    const block = stormBlock((name) => files[name]);
    expect(block).toContain(machine);
    expect(block.match(/src="[^"]*"/gu)).toEqual(['src="bench/results/storm219.svg"']);
    expect(block.match(/^\| --- .*$/gmu)).toHaveLength(1);
    expect(block).not.toContain("all attached");
  });
});

test("numbersBlock has the first promise of each cell that was measured", () => {
  expect(numbersBlock((name) => files[name]).match(/^- .*$/gmu)).toEqual([
    "- 219 pods at once, with a memory limit of 50Mi: **219**",
    "- 219 pods while the daemon is killed every 2 s: **219**",
  ]);
});

test("All blocks say so when nothing was measured", () => {
  for (const block of [numbersBlock, stormBlock, resultsBlock])
    expect(block(() => undefined)).toContain("Nothing has been measured yet");
});

describe("withBlock", () => {
  const [begin, end] = ["<!-- bench storm: made by npm run bench -->", "<!-- /bench storm -->"];

  test("replaces what is between the marks and keeps the rest", () => {
    const block = `${begin}\nnew\n${end}`;
    expect(withBlock(`a\n${begin}\nold\n${end}\nb`, block)).toBe(`a\n${block}\nb`);
  });

  test("does nothing to a text without the marks, or with them the wrong way round", () => {
    expect(withBlock("a", `${begin}\n${end}`)).toBeUndefined();
    expect(withBlock(`${end}${begin}`, `${begin}\n${end}`)).toBeUndefined();
  });
});
