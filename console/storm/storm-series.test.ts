import { expect, test } from "bun:test";
import { outageSnapshot } from "../snapshot.fixture.ts";
import { byClass, byNamespace, fittingSpan, lastMinutes, oldestWaitMs, waitingNow } from "./storm-series.ts";

const point = (atMs: number, waiting: number, counts?: Readonly<Record<string, number>>) => ({
  atMs,
  waiting,
  attached: 10,
  done: 0,
  ...(counts === undefined ? {} : { byNamespace: counts }),
});

test("byNamespace has a layer per namespace, and one for the rest", () => {
  const { series } = byNamespace([point(1, 0), point(2, 9, { "fc": 5, "": 1, "gone": 3 })], ["fc", ""]);
  expect(series).toEqual([
    { label: "fc", values: [0, 5] },
    { label: "all others", values: [0, 4] },
  ]);
});

test("byNamespace without names has one layer, and at most nine with many", () => {
  expect(byNamespace([point(1, 3)], []).series).toEqual([{ label: "waiting", values: [3] }]);
  const names = Array.from({ length: 30 }, (_unused, index) => `n${index}`);
  expect(byNamespace([point(1, 3)], names).series).toHaveLength(9);
});

test("byClass takes an absent count for none", () => {
  expect(byClass([point(1, 3)]).series.map(({ values }) => values)).toEqual([[0], [0], [0], [0]]);
});

test("fittingSpan shows the last minutes of a storm that has just begun, else the hour", () => {
  const quiet = Array.from({ length: 60 }, (_unused, minute) => point(minute * 60_000, 0));
  expect(fittingSpan([])).toBe("hour");
  expect(fittingSpan(quiet)).toBe("hour");
  expect(fittingSpan([...quiet, point(3_600_000, 219)])).toBe("5 min");
  expect(fittingSpan([point(0, 219), ...quiet.slice(1)])).toBe("hour");
  expect(lastMinutes(quiet, 5)).toHaveLength(6);
});

test("waitingNow counts by the nodes, which are newer than the last point; a node alone has points only", () => {
  const { viewer, nodes, storm } = outageSnapshot(1_800_000_000_000);
  const last = storm.points.at(-1)?.waiting ?? -1;
  expect(waitingNow({ viewer, nodes, storm })).toBe(219);
  expect(waitingNow({ viewer: { ...viewer, mode: "node" }, nodes, storm })).toBe(last);
  expect(waitingNow({ viewer, nodes: [], storm })).toBe(last);
});

test("oldestWaitMs is of named pods or of calls in line, whichever waits longer", () => {
  const { storm } = outageSnapshot(1_000_000);
  const line = { class: "ordinary", waiting: 60, oldestWaitMs: 4_000 };
  const pod = { namespace: "a", pod: "b", node: "n", sinceMs: 900_000 };
  const points = [point(902_000, 60)];
  expect(oldestWaitMs({ ...storm, points, waiting: [pod], classes: [line] })).toBe(4_000);
  expect(oldestWaitMs({ ...storm, points, waiting: [pod], classes: [{ ...line, waiting: 0 }] })).toBe(2_000);
  expect(oldestWaitMs({ ...storm, points, waiting: [], classes: [] })).toBeUndefined();
});
