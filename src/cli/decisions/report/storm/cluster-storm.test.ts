import { expect, test } from "bun:test";
import type { NodeStorm, NodeStorms } from "../../../../state/recorder/node-storm.ts";
import { clusterStorm, longestQueue } from "./cluster-storm.ts";
import { waitAt } from "./storm-numbers.ts";

const hourMs = 3_600_000;

function storm(fromMs: number, pods: number, change: Partial<NodeStorm> = {}): NodeStorm {
  return {
    ...{ fromMs, toMs: fromMs + 60_000, pods, namespaces: [["shop", pods]], lineMax: pods, lineMaxMs: fromMs + 1 },
    ...{ classes: [{ name: "ordinary", pods, waitMsMax: pods }], waits: [[1_000, pods]], attached: pods },
    ...{ failures: [], plugins: [], held: 0, holdMsMax: 0, oomKills: 0, hung: 0, leaks: 0, moments: [] },
    ...change,
  };
}

function told(nodes: Readonly<Record<string, readonly NodeStorm[]>>): ReadonlyMap<string, NodeStorms> {
  return new Map(Object.entries(nodes).map(([node, storms]) => [node, { sinceMs: 0, storms }]));
}

test("clusterStorm adds up the nodes of one storm, and leaves other hours out", () => {
  const nodes = told({
    a: [storm(0, 90), storm(5 * hourMs, 100, { oomKills: 2, failures: [["delegate-oom", 2]] })],
    b: [
      storm(5 * hourMs + 90_000, 119, {
        namespaces: [
          ["fc", 100],
          ["shop", 19],
        ],
        failures: [["delegate-oom", 1]],
      }),
    ],
    c: [storm(9 * hourMs, 150)],
  });
  const found = clusterStorm(nodes);
  expect(found).toMatchObject({
    ...{ fromMs: 5 * hourMs, toMs: 5 * hourMs + 150_000, pods: 219, attached: 219, lineMax: 119, oomKills: 2 },
    namespaces: [
      ["shop", 119],
      ["fc", 100],
    ],
    failures: [["delegate-oom", 3]],
    waits: [[1_000, 219]],
    classes: [{ name: "ordinary", pods: 219, waitMsMax: 119 }],
  });
  expect(found?.nodes.map(({ node }) => node)).toEqual(["b", "a"]);
  expect(clusterStorm(nodes, 9 * hourMs)?.pods).toBe(150);
  expect([clusterStorm(nodes, 10 * hourMs), longestQueue(nodes, 10 * hourMs)]).toEqual([undefined, 0]);
});

test("clusterStorm finds a storm of which each node has only a few pods", () => {
  const nodes = Object.fromEntries(Array.from({ length: 30 }, (_, index) => [`n-${index}`, [storm(index * 1_000, 7)]]));
  expect(clusterStorm(told(nodes))).toMatchObject({ pods: 210, fromMs: 0, toMs: 89_000 });
});

test("clusterStorm makes no storm of a chain of short lines, of which only neighbours touch", () => {
  const nodes = Array.from({ length: 100 }, (_, index) => [`n-${index}`, [storm(index * 300_000, 3)]] as const);
  const found = told(Object.fromEntries(nodes));
  expect([clusterStorm(found), longestQueue(found)]).toEqual([undefined, 9]);
});

test("clusterStorm is fast with the lines of 5,000 nodes", () => {
  const nodes = Array.from({ length: 5_000 }, (_, index) => {
    const storms = Array.from({ length: 12 }, (_line, hour) => storm(hour * hourMs, 1 + (index % 7)));
    return [`n-${index}`, storms] as const;
  });
  expect(clusterStorm(told(Object.fromEntries(nodes)))?.nodes).toHaveLength(5_000);
});

test("waitAt gives the wait that a share of the turns did not exceed", () => {
  const waits = [[100, 1], [2_000, 2], [9_000, 1]] as const; // prettier-ignore
  expect([0, 0.5, 0.75, 1].map((share) => waitAt({ waits }, share))).toEqual([100, 2_000, 2_000, 9_000]);
  expect(waitAt({ waits: [] }, 1)).toBe(0);
});
