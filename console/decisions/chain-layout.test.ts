import { describe, expect, test } from "bun:test";
import { outageSnapshot } from "../snapshot.fixture.ts";
import { boxWidth, chainDrawing, chainTrees, linesOf } from "./chain-layout.ts";

const edge = (cause: string, effect: string) => ({ cause, effect, rule: "r", why: "w" });

describe("chainTrees", () => {
  test("hangs each effect below its cause, and alerts together", () => {
    const [tree, ...others] = chainTrees([
      edge("root", "daemon killed"),
      edge("daemon killed", "traefik stuck"),
      edge("daemon killed", "3 alerts ProbeFailed"),
      edge("daemon killed", "alert TargetDown"),
    ]);
    expect(others).toEqual([]);
    expect(tree?.text).toBe("root");
    expect(tree?.effects[0]?.effects.map(({ text }) => text)).toEqual(["traefik stuck"]);
    expect(tree?.effects[0]?.alerts).toHaveLength(2);
  });

  test("draws an effect of two causes once, and ends in a circle", () => {
    const trees = chainTrees([edge("a", "b"), edge("a", "c"), edge("b", "d"), edge("c", "d"), edge("d", "b")]);
    const { boxes } = chainDrawing(trees);
    expect(boxes.map(({ text }) => text).toSorted()).toEqual(["a", "b", "c", "d"]);
  });
});

describe("chainDrawing", () => {
  test("of the outage has the root on the right, and no two boxes overlap", () => {
    const { boxes, arrows, width } = chainDrawing(chainTrees(outageSnapshot(0).decisions[0]?.chain ?? []));
    const root = boxes.find(({ kind }) => kind === "root");
    expect(root?.x).toBe(Math.max(...boxes.map(({ x }) => x)));
    expect(arrows).toHaveLength(boxes.length - 1);
    expect(width).toBeGreaterThan(boxWidth);
    for (const [index, a] of boxes.entries())
      for (const b of boxes.slice(index + 1))
        expect(a.x !== b.x || a.y + a.height <= b.y || b.y + b.height <= a.y).toBe(true);
  });

  test("of nothing is empty", () => {
    expect(chainDrawing(chainTrees([])).boxes).toEqual([]);
  });
});

test("linesOf cuts a word that is longer than a line, and a text that is longer than a box", () => {
  expect(linesOf("a".repeat(70))).toEqual(["a".repeat(31), "a".repeat(31), "a".repeat(8)]);
  expect(linesOf("word ".repeat(100).trim()).at(-1)).toEndWith(" …");
  expect(linesOf("word ".repeat(100).trim())).toHaveLength(5);
});
