import { describe, expect, test } from "bun:test";
import { blockBegin, blockEnd, readmeBlock, withBlock, type KeptCell } from "./readme-block.ts";

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

describe("readmeBlock", () => {
  test("has a row per promise in the order of the targets, and the table and plot of the storm", () => {
    const files: Readonly<Record<string, string>> = {
      "kill2s.json": JSON.stringify(kept("kill2s", false)),
      "storm219.json": JSON.stringify(kept("storm219", true)),
      "storm219.svg": "<svg/>",
    };
    const block = readmeBlock((name) => files[name]);
    expect(block).toContain("2 × Some, 24 GiB, Linux 6.1, 2026-01-02");
    expect(block.match(/^\| all attached .*$/gmu)).toEqual([
      "| all attached | 219 | ✓ | [storm219](bench/results/storm219.md) |",
      "| all attached | 219 | ✗ | [kill2s](bench/results/kill2s.md) |",
    ]);
    expect(block).toContain('<img src="bench/results/storm219.svg"');
    expect(block).toContain("| Levee | 219 |");
    expect(block).not.toContain("**The kill2s**");
  });

  test("says so when nothing was measured", () => {
    expect(readmeBlock(() => undefined)).toContain("Nothing has been measured yet");
  });
});

describe("withBlock", () => {
  test("replaces what is between the marks and keeps the rest", () => {
    const block = `${blockBegin}\nnew\n${blockEnd}`;
    expect(withBlock(`a\n${blockBegin}\nold\n${blockEnd}\nb`, block)).toBe(`a\n${block}\nb`);
  });

  test("does nothing to a text without the marks, or with them the wrong way round", () => {
    expect(withBlock("a", "x")).toBeUndefined();
    expect(withBlock(`${blockEnd}${blockBegin}`, "x")).toBeUndefined();
  });
});
