import { expect, test } from "bun:test";
import { outageSnapshot } from "../snapshot.fixture.ts";
import { applyChange } from "./apply-change.ts";

const before = outageSnapshot(1_800_000_000_000);

test("applyChange keeps the objects of everything that did not change", () => {
  const after = applyChange(before, { revision: 2, asOfMs: before.asOfMs + 500 });
  expect(after.revision).toBe(2);
  expect(after.nodes).toBe(before.nodes);
  expect(after.storm).toBe(before.storm);
});

test("applyChange changes, adds and removes nodes, in the order of their names", () => {
  const { nodes } = applyChange(before, {
    revision: 2,
    asOfMs: before.asOfMs,
    nodes: {
      changed: [
        { name: "rke2-agent2", state: "ok" },
        { name: "rke2-agent0", state: "unknown" },
      ],
      gone: ["rke2-server"],
    },
  });
  expect(nodes.map(({ name, state }) => `${name} ${state}`)).toEqual([
    "rke2-agent0 unknown",
    "rke2-agent1 failed",
    "rke2-agent2 ok",
  ]);
});

test("applyChange puts Decisions that wait for a person first", () => {
  const [first, second] = before.decisions;
  if (first === undefined || second === undefined) throw new Error("the fixture has two");
  const { decisions } = applyChange(before, {
    revision: 2,
    asOfMs: before.asOfMs,
    decisions: { changed: [{ ...first, needsPerson: false, isOpen: false }], gone: [] },
  });
  expect(decisions.map(({ name }) => name)).toEqual([second.name, first.name]);
});

test("applyChange appends points, drops old ones, and replaces those that are sent again", () => {
  const last = before.storm.points.at(-1);
  if (last === undefined) throw new Error("the fixture has points");
  const again = { ...last, waiting: 7 };
  const next = { ...last, atMs: last.atMs + before.storm.stepMs, waiting: 8 };
  const { storm } = applyChange(before, {
    revision: 2,
    asOfMs: before.asOfMs,
    storm: { ...before.storm, points: [again, next] },
  });
  expect(storm.points.slice(-2)).toEqual([again, next]);
  expect(storm.points[0]?.atMs).toBeGreaterThanOrEqual(next.atMs - before.storm.spanMs);
  expect(storm.points.length).toBe(before.storm.points.length + 1);
});
