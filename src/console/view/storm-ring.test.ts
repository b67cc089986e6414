import { describe, expect, test } from "bun:test";
import type { ConsolePod } from "../facts/console-pod.ts";
import { stormPast } from "./storm-past.ts";
import { shownNamespaces, StormRing, type StormCount } from "./storm-ring.ts";

function count(more: Partial<StormCount> = {}): StormCount {
  return { waiting: 0, attached: 0, doneSoFar: 0, byNamespace: [], byClass: [0, 0, 0, 0], ...more };
}

describe("StormRing", () => {
  test("keeps a point every five seconds, for an hour, and no more", () => {
    const ring = new StormRing();
    for (let ms = 0; ms < 3 * 3_600_000; ms += 1_000) ring.add(ms, count({ waiting: 1 }));
    expect(ring.points.length).toBe(720);
    expect(ring.points.at(-1)?.atMs).toBe(3 * 3_600_000 - 5_000);
  });

  test("tells what was done since the point before, and never less than nothing", () => {
    const ring = new StormRing(1_000, 60_000);
    for (const [at, doneSoFar] of [100, 107, 3].entries()) ring.add(at * 1_000, count({ doneSoFar }));
    expect(ring.points.map(({ done }) => done)).toEqual([0, 7, 0]);
  });

  test("names the namespaces that wait most, and sums up the others", () => {
    const ring = new StormRing();
    const byNamespace = Array.from({ length: 12 }, (_, at) => [`ns${at}`, 12 - at] as const);
    ring.add(1, count({ waiting: 78, byNamespace }));
    expect(Object.keys(ring.points[0]?.byNamespace ?? {}).length).toBe(9);
    expect(ring.points[0]?.byNamespace?.[""]).toBe(10);
    expect(shownNamespaces(ring.points)).toEqual([...byNamespace.slice(0, 8).map(([name]) => name), ""]);
  });

  test("goes on when the clock was set back", () => {
    const ring = new StormRing();
    ring.add(10_000_000, count());
    ring.add(5_000_000, count());
    ring.add(5_005_000, count());
    expect(ring.points.map(({ atMs }) => atMs)).toEqual([5_000_000, 5_005_000]);
  });
});

describe("stormPast", () => {
  test("rebuilds the hour before from the pods' own times", () => {
    const nowMs = 10_000_000;
    const usual = { namespace: "shop", uid: "", node: "n1", networks: [], owner: "", oomKilledMs: 0, restarts: 0 };
    const pods: ConsolePod[] = [
      { ...usual, name: "old", state: "attached", boundMs: 1, attachedMs: 2 },
      { ...usual, name: "stuck", state: "waiting", boundMs: nowMs - 1_800_000, attachedMs: 0 },
      { ...usual, name: "late", state: "attached", boundMs: nowMs - 1_200_000, attachedMs: nowMs - 600_000 },
      { ...usual, name: "gone", state: "ended", boundMs: nowMs - 600_000, attachedMs: 0 },
    ];
    const points = stormPast(pods, nowMs);
    const at = (agoMs: number): object | undefined => points.findLast(({ atMs }) => atMs <= nowMs - agoMs);
    expect(points[0]).toMatchObject({ waiting: 0, attached: 1 });
    expect(at(1_500_000)).toMatchObject({ waiting: 1, attached: 1 });
    expect(at(900_000)).toMatchObject({ waiting: 2, attached: 1 });
    expect(at(15_000)).toMatchObject({ waiting: 1, attached: 2 });
    expect(points.reduce((sum, { done }) => sum + done, 0)).toBe(1);
    const ring = new StormRing();
    ring.add(nowMs, count());
    ring.fillIn(points);
    expect(ring.points.length).toBe(points.length + 1);
    expect(ring.liveSinceMs).toBe(nowMs);
  });
});
