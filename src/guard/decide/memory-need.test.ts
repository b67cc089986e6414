import { expect, test } from "bun:test";
import type { CniDaemon } from "../facts/guard-settings.ts";
import type { NodeFacts, World } from "../facts/world.ts";
import { multus, outage } from "../outage.fixture.ts";
import { outagePods, stuckPod, world } from "../world.fixture.ts";
import { memoryChange, memoryNotes } from "./memory-change.ts";
import { memoryNeed } from "./memory-need.ts";

const daemon: CniDaemon = { namespace: "kube-system", daemonSet: "kube-multus-ds", container: "kube-multus" };
const mebibyte = 2 ** 20;

function view(node: string, waiting: number, memory?: number): World["nodeViews"][number] {
  const memoryBytes = memory === undefined ? {} : { memoryBytes: memory * mebibyte };
  return { node, atMs: 0, waiting, running: 0, leaks: 0, ...memoryBytes };
}

function limits(facts: Partial<World>): string {
  const change = memoryChange(daemon, outage(facts));
  return "note" in change ? change.note : `${change.newLimit}/${change.newRequest}`;
}

test("memoryNeed multiplies the pods of the fullest node by a stated default, and shows the sum", () => {
  const { bytes, text } = memoryNeed(world({ pods: [...outagePods(219), stuckPod("one-more")] }));
  expect(bytes).toBe((32 + 74 * 8) * mebibyte);
  expect(text).toStartWith("74 pods wait on rke2-agent1 × 8Mi (no daemon has told its memory");
  expect(text).toEndWith("+ 32Mi at rest = 624Mi");
});

test("memoryNeed takes what the dearest daemon holds for each call that waits", () => {
  const nodeViews = [view("rke2-agent1", 100, 150), view("rke2-agent2", 100, 300), view("rke2-agent3", 5, 900)];
  const { bytes, text } = memoryNeed(world({ pods: outagePods(300), nodeViews: [...nodeViews, view("other", 400)] }));
  expect(bytes).toBe((32 + 100 * 3) * mebibyte);
  expect(text).toContain("× 3Mi (the daemon of rke2-agent2 takes that much: 300Mi with 100 calls waiting)");
});

test("memoryChange rounds the sum up to a power of two, and asks for half of it", () => {
  expect(limits({})).toBe("1Gi/512Mi");
  expect(limits({ pods: outagePods(60) })).toBe("256Mi/128Mi");
  expect(limits({ pods: outagePods(600) })).toBe("2Gi/1Gi");
});

test("memoryChange goes one size up when the sum is below the limit with which the daemon was killed", () => {
  const containers = [{ name: "kube-multus", memoryLimit: "1Gi", memoryRequest: "512Mi" }];
  const facts = outage({ daemonSets: [{ ...multus, containers }] });
  expect(limits(facts)).toBe("2Gi/1Gi");
  const change = memoryChange(daemon, facts);
  expect("note" in change ? [] : memoryNotes(change)).toEqual([
    expect.stringMatching(/= 648Mi; it was killed with 1Gi, so the next size above: 2Gi$/u),
    expect.stringContaining("The request for kube-multus grows from 512Mi to 1Gi"),
  ]);
});

test("memoryChange keeps within a tenth of the smallest node, and asks for a twentieth at most", () => {
  const nodes = (gibibytes: number): readonly NodeFacts[] => [
    { name: "small", isReady: true, memoryBytes: gibibytes * 2 ** 30, address: "" },
  ];
  expect(limits({ nodes: nodes(8) })).toBe("819Mi/409Mi");
  expect(limits({ nodes: nodes(4) })).toBe("409Mi/204Mi");
  expect(limits({ nodes: nodes(0.25) })).toContain("more than 50Mi is too much for its nodes");
  expect(limits({ nodes: [] })).toBe("1Gi/50Mi");
});

test("memoryChange leaves a container without a request without one, and never asks for less", () => {
  const asking = (memoryRequest: string): Partial<World> => ({
    daemonSets: [{ ...multus, containers: [{ name: "kube-multus", memoryLimit: "50Mi", memoryRequest }] }],
  });
  expect(limits(asking(""))).toBe("1Gi/");
  expect(limits(asking("800Mi"))).toBe("1Gi/800Mi");
});
