import { expect, test } from "bun:test";
import { addTally, emptyTally, waitOf, type FleetTally } from "./fleet-tally.ts";
import { deedsOf, firstPods, hourMs, type FleetPlan } from "./fleet-plan.ts";
import { hashOf } from "./fleet-text.ts";
import { cohortsOf, nodesOf, playCohort } from "./play-cohort.ts";

const plan: FleetPlan = { seed: 7, nodes: 2, podsPerNode: 20, hours: 1, cohortNodesMax: 125 };
const sum = (counts: readonly number[]): number => counts.reduce((total, one) => total + one, 0);

test("playCohort plays each node's hour with the daemon's own code, and the same again for the same seed", async () => {
  const tally = await playCohort(plan, 0);
  expect(tally.broken).toEqual([]);
  expect(tally).toMatchObject({ nodes: 2, builtUp: 20, simulatedMs: 2 * hourMs });
  // A tenth of the pods is replaced on each node.
  expect([sum(tally.attached), sum(tally.deleted)]).toEqual([4, 4]);
  expect(sum(tally.waits) + sum(tally.criticalWaits)).toBe(4);
  // The API server restarts in minute 20, and each node then needs a list of its pods and one of networks. Besides, both
  // copies are compared with a list after 30 to 90 minutes.
  expect(sum(tally.lists.slice(20 * 60, 22 * 60))).toBeGreaterThanOrEqual(2);
  expect(sum(tally.lists)).toBeLessThanOrEqual(2 * 2 * 3);
  expect(hashOf(await playCohort(plan, 0))).toBe(hashOf(tally));
  expect(hashOf(await playCohort({ ...plan, seed: 8 }, 0))).not.toBe(hashOf(tally));
}, 60_000);

test("deedsOf replaces a tenth of the pods in an hour, kills some daemons and reboots some nodes", () => {
  const pods = firstPods({ ...plan, podsPerNode: 250 }, 0);
  const kinds = Array.from({ length: 1_000 }, (_, node) => deedsOf({ ...plan, podsPerNode: 250 }, node, pods));
  const counts = Object.groupBy(kinds.flat(), ({ kind }) => kind);
  expect(counts.bind?.length).toBe(25_000);
  expect(counts.remove?.length).toBe(25_000);
  expect(counts["kill-daemon"]?.length).toBeWithin(10, 31);
  expect(counts.reboot?.length).toBeWithin(3, 20);
});

test("cohortsOf and nodesOf leave out no node", () => {
  for (const cohortNodesMax of [1, 50, 125])
    for (const nodes of [1, 49, 50, 51, 126, 1_001, 5_000]) {
      const some = { ...plan, nodes, cohortNodesMax };
      const sizes = Array.from({ length: cohortsOf(some) }, (_, at) => nodesOf(some, at));
      expect(sum(sizes)).toBe(nodes);
      expect(Math.min(...sizes)).toBeGreaterThan(0);
      expect(Math.max(...sizes)).toBeLessThanOrEqual(cohortNodesMax);
    }
});

test("addTally gives the same in any order", () => {
  const [one, other] = [filled("0", [1, 2], 700), filled("1", [0, 0, 5], 300)];
  const tallies = [
    [one, other],
    [other, one],
  ].map((order) => {
    const all = emptyTally();
    for (const tally of order) addTally(all, tally);
    return all;
  });
  expect(tallies[0]).toEqual(tallies[1] as FleetTally);
  expect(tallies[0]).toMatchObject({ lists: [1, 2, 5], criticalWaitMsMax: [700] });
  expect(hashOf(tallies[0] as FleetTally)).toBe(hashOf(tallies[1] as FleetTally));
});

test("waitOf finds the time within which a share of the pods had their networks", () => {
  expect(waitOf([50, 40, 9, 1], 0.5)).toBe(100);
  expect(waitOf([50, 40, 9, 1], 0.99)).toBe(300);
  expect(waitOf([50, 40, 9, 1], 1)).toBe(400);
  expect(waitOf([], 0.5)).toBeUndefined();
});

function filled(cohort: string, lists: readonly number[], waitMs: number): FleetTally {
  return {
    ...emptyTally(),
    nodes: 1,
    lists: [...lists],
    criticalWaitMsMax: [waitMs],
    hashes: { [cohort]: `1-${waitMs}` },
  };
}
