import { describe, expect, test } from "bun:test";
import { timedCells, timedRow } from "./timed-row.ts";

describe("timedRow", () => {
  test("takes the median and the 90th percentile, in any order", () => {
    const row = timedRow("x", [10, 1, 9, 2, 8, 3, 7, 4, 6, 5]);
    expect(row).toEqual({ label: "x", runs: 10, median: 6, p90: 10 });
    expect(timedCells(row)).toEqual(["x", "10", "6.00", "10.00", "–"]);
  });
});
