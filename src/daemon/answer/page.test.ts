import { describe, expect, test } from "bun:test";
import { beginningOf, pageOf } from "./page.ts";

interface Row {
  readonly key: string;
  readonly text: string;
}

function rowsOf(count: number, chars = 500): readonly Row[] {
  // Not in the order of the keys.
  return Array.from({ length: count }, (_, index) => ({
    key: String((index * 7_919) % count).padStart(6, "0"),
    text: "é".repeat(chars / 2),
  }));
}

function page(rows: readonly Row[], after: string | undefined): ReturnType<typeof pageOf<Row, Row>> {
  return pageOf(rows, { after, keyOf: ({ key }) => key, viewOf: (row) => row });
}

describe("pageOf", () => {
  test("gives every row once, in pages that are small beside a frame", () => {
    const rows = rowsOf(3_001);
    const seen: string[] = [];
    let pages = 0;
    for (let after: string | undefined = ""; after !== undefined; pages += 1) {
      const { rows: some, next }: ReturnType<typeof page> = page(rows, after);
      expect(Buffer.byteLength(JSON.stringify(some))).toBeLessThan(55_000);
      seen.push(...some.map(({ key }) => key));
      after = next;
    }
    expect(pages).toBeGreaterThan(10);
    expect(seen).toEqual(rows.map(({ key }) => key).toSorted());
  });

  test("rows that go between two pages, also the last one that was shown, move no others", () => {
    const rows = rowsOf(1_000);
    const first = page(rows, "");
    const shown = new Set(first.rows.map(({ key }) => key));
    const left = rows.filter(({ key }) => !shown.has(key));
    expect(page(left, first.next).rows[0]?.key).toBe(left.map(({ key }) => key).toSorted()[0] ?? "");
  });

  test("no rows, and a row that is longer than a page, are a page", () => {
    expect(page([], "")).toEqual({ rows: [] });
    const long = rowsOf(2, 400_000);
    const first = page(long, "");
    expect([first.rows.length, first.next]).toEqual([1, "000000"]);
    expect(page(long, first.next)).toMatchObject({ rows: [{ key: "000001" }] });
  });

  test("without pages all rows in their own order; too many are an error, not half a list", () => {
    const rows = rowsOf(1_000);
    expect(page(rows, undefined)).toEqual({ rows });
    expect(() => page(rowsOf(3_000), undefined)).toThrow(/the list has 3000 rows, and \d+ fit; use the levee program/);
  });
});

test("beginningOf gives what fits into a frame", () => {
  const rows = rowsOf(3_000);
  const shown = beginningOf(rows);
  expect(Buffer.byteLength(JSON.stringify(shown))).toBeLessThan(950_000);
  expect(shown).toEqual(rows.slice(0, shown.length));
});
