import { describe, expect, test } from "bun:test";
import { plotFigure, ticks } from "./plot.ts";
import { sharePoints } from "./run-plots.ts";

describe("ticks", () => {
  test.each([
    [219, [0, 50, 100, 150, 200, 250]],
    [50, [0, 10, 20, 30, 40, 50]],
    [0.3, [0, 0.1, 0.2, 0.3]],
    [1, [0, 0.2, 0.4, 0.6, 0.8, 1]],
    [0, [0, 1]],
  ])("of %p are round", (max, expected) => {
    expect(ticks(max)).toEqual(expected);
  });
});

describe("plotFigure", () => {
  test("draws thousands of points with a few hundred, the last among them", () => {
    const points = Array.from({ length: 5000 }, (_, at) => [at, at] as const);
    const figure = plotFigure({ title: "t", xUnit: "", yUnit: "", lines: [{ name: "n", colour: "first", points }] });
    expect(figure.match(/[ML]\d/gu)?.length).toBeLessThan(500);
    expect(figure).toContain('class="line first"');
    expect(figure).toContain(`${(56 + (4999 / 5000) * 570).toFixed(1)} 14.`);
  });
});

describe("sharePoints", () => {
  test("are steps up to the share that was attached at all", () => {
    expect(sharePoints([1000, 2000], 4)).toEqual([
      [0, 0],
      [1, 0],
      [1, 25],
      [2, 25],
      [2, 50],
    ]);
  });
});
