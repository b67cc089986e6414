import { describe, expect, test } from "bun:test";
import { renderTable } from "./table.ts";

describe("renderTable", () => {
  test("aligns columns with three blanks between and none at the end", () => {
    const table = renderTable(
      ["POD", "AGE"],
      [
        ["default/web", "1s"],
        ["b", "10m"],
      ],
    );
    expect(table).toBe("POD           AGE\ndefault/web   1s\nb             10m\n");
  });

  test("shows a dash for an empty or missing cell, so that columns keep their place", () => {
    expect(renderTable(["A", "B", "C"], [["", "x"]])).toBe("A   B   C\n-   x   -\n");
  });

  test("ignores cells beyond the headings", () => {
    expect(renderTable(["A"], [["x", "y"]])).toBe("A\nx\n");
  });

  test("keeps one row on one line and free of control characters", () => {
    expect(renderTable(["A", "B"], [["x\ny", "\u001b[31mred"]])).toBe("A     B\nx y   red\n");
  });

  test("measures in characters, not in UTF-16 units", () => {
    expect(
      renderTable(
        ["A", "B"],
        [
          ["🙂🙂", "x"],
          ["abc", "y"],
        ],
      ),
    ).toBe("A     B\n🙂🙂    x\nabc   y\n");
  });

  test("prints the headings alone without rows", () => {
    expect(renderTable(["A", "B"], [])).toBe("A   B\n");
  });
});
