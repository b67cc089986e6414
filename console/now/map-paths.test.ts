import { expect, test } from "bun:test";
import { manyNodes } from "../snapshot.fixture.ts";
import { indexAt, mapLayout, mapPaths, placeOf } from "./map-paths.ts";

test("mapLayout fits 5,000 nodes into the room, and leaves a few no larger than a cell", () => {
  const many = mapLayout(5_000, 1_400, 650);
  expect(many.rows * many.cell).toBeLessThan(720);
  expect(many.columns * many.rows).toBeGreaterThanOrEqual(5_000);
  expect(mapLayout(40, 1_400, 650).cell).toBe(40);
  expect(mapLayout(5_000, 320, 400).cell).toBe(9);
});

test("indexAt finds the cell that placeOf has drawn, and nothing beside the cells", () => {
  const layout = mapLayout(5_000, 1_400, 650);
  for (const index of [0, 1, layout.columns, 4_999]) {
    const { x, y } = placeOf(index, layout);
    expect(indexAt(x + 1, y + 1, layout, 5_000)).toBe(index);
  }
  expect(indexAt(-1, 5, layout, 5_000)).toBeUndefined();
  expect(indexAt(layout.columns * layout.cell + 1, 0, layout, 5_000)).toBeUndefined();
  expect(indexAt(0, layout.rows * layout.cell + 1, layout, 5_000)).toBeUndefined();
});

test("mapPaths draws every node once, in one path per layer", () => {
  const nodes = manyNodes(5_000, 0);
  const paths = mapPaths(nodes, mapLayout(nodes.length, 1_400, 650));
  expect(paths.map(([layer]) => layer)).toEqual(["ok", "busy", "warning", "failed", "unknown", "cross", "reboot"]);
  const count = (layer: string, per = 1): number =>
    (paths.find(([name]) => name === layer)?.[1].match(/M/gu) ?? []).length / per;
  expect(count("ok") + count("busy") + count("warning") + count("failed") + count("unknown", 2)).toBe(5_000);
  expect(count("cross", 2)).toBe(count("failed"));
});
