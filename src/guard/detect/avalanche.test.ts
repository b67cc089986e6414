import { expect, test } from "bun:test";
import { SharedTexts } from "../../base/shared-texts.ts";
import type { ClusterPod } from "../facts/cluster-pod.ts";
import { projectClusterPod } from "../facts/project-cluster-pod.ts";
import { minuteMs, nowMs, outagePods, stuckPod } from "../world.fixture.ts";
import { findAvalanches, findScattered } from "./avalanche.ts";

test("findAvalanches finds the outage's avalanche from its pods alone", () => {
  const [found, ...others] = findAvalanches(outagePods(219), nowMs);
  expect(others).toEqual([]);
  expect(found).toMatchObject({ namespace: "fc-desktop", clientSays: "RemoteDesktop", recent: 143 });
  expect(found?.members.length).toBe(219);
  expect([...(found?.nodes ?? [])]).toEqual([
    ["rke2-agent1", 73],
    ["rke2-agent2", 73],
    ["rke2-agent3", 73],
  ]);
});

test("findAvalanches sees a plateau that has not grown for a day", () => {
  const dayAgoMs = nowMs - 24 * 60 * minuteMs;
  const [found] = findAvalanches(outagePods(219, { createdMs: dayAgoMs, boundMs: dayAgoMs }), nowMs);
  expect(found).toMatchObject({ recent: 0, sinceMs: dayAgoMs });
});

test("findAvalanches finds an avalanche as soon as the twentieth member is stuck, and not before", () => {
  const pods = outagePods(19);
  const last = stuckPod("last", { boundMs: nowMs - 5 * minuteMs });
  expect(findAvalanches(pods, nowMs)).toEqual([]);
  expect(findAvalanches([...pods, last], nowMs)).toEqual([]);
  expect(findAvalanches([...pods, last], nowMs + 1)[0]?.members.length).toBe(20);
});

test("findAvalanches and findScattered go by another time where the guard was told one", () => {
  const pods = outagePods(20, { boundMs: nowMs - 2 * minuteMs });
  const scattered = pods.map((pod, index) => ({ ...pod, shape: `shape-${index}` }));
  expect(findAvalanches(pods, nowMs)).toEqual([]);
  expect(findAvalanches(pods, nowMs, minuteMs)[0]?.members.length).toBe(20);
  expect(findAvalanches(pods, nowMs, 2 * minuteMs)).toEqual([]);
  expect(findScattered(scattered, nowMs).size).toBe(0);
  expect(findScattered(scattered, nowMs, minuteMs).size).toBe(1);
});

for (const [what, changes] of [
  ["pods of a healthy rollout", { owner: "ReplicaSet/web-1", phase: "Running" }],
  ["pods of a rollout that waits", { owner: "ReplicaSet/web-1" }],
  ["pods of Jobs", { owner: "Job/nightly" }],
  ["pods that only wait for a node", { node: "", boundMs: 0 }],
  ["running ownerless pods", { phase: "Running", everRan: true }],
  ["pods that have their network and wait for an image", { everRan: true }],
  ["finished ownerless pods", { phase: "Succeeded" }],
  ["static pods", { isMirror: true }],
  ["pods that say why they have no owner", { isExempt: true }],
  ["pods on their way out", { isDeleting: true }],
  ["pods that were bound 4 minutes ago", { boundMs: nowMs - 4 * minuteMs }],
  ["pods with a time in the future", { boundMs: nowMs + 60 * minuteMs }],
] as const) {
  test(`findAvalanches finds nothing in 300 ${what}`, () => {
    expect(findAvalanches(outagePods(300, changes), nowMs)).toEqual([]);
  });
}

test("findAvalanches does not join pods of several namespaces, nor of several shapes", () => {
  const spread = outagePods(57).map((pod, index) => ({ ...pod, namespace: `ns-${index % 3}` }));
  const varied = outagePods(57).map((pod, index) => ({ ...pod, shape: `debug-${index % 3}` }));
  expect(findAvalanches([...spread, ...varied], nowMs)).toEqual([]);
});

test("findAvalanches leaves everything else of the namespace out of the set", () => {
  const others: ClusterPod[] = [
    stuckPod("debug", { shape: "labels 1 spec 2", clientSays: "kubectl-run" }),
    stuckPod("owned", { owner: "Job/x", shape: "" }),
    stuckPod("static", { isMirror: true }),
    stuckPod("running", { phase: "Running", everRan: true }),
  ];
  const [found] = findAvalanches([...others, ...outagePods(30)], nowMs);
  expect(found?.members.every(({ name }) => name.startsWith("rd-browser-only-"))).toBe(true);
  expect(found?.members.length).toBe(30);
});

test("findScattered finds namespaces with enough stuck pods outside of any avalanche, and no others", () => {
  const own = outagePods(57).map((pod, index) => ({ ...pod, namespace: "own", shape: `own-${index}` }));
  const set = outagePods(60, { namespace: "set" });
  const few = outagePods(19).map((pod, index) => ({ ...pod, namespace: "set", shape: `few-${index}` }));
  expect([...findScattered([...own, ...set, ...few], nowMs)]).toEqual([["own", 57]]);
});

test("findAvalanches puts the largest first and walks 50,000 pods in a moment", () => {
  const pods = [
    ...outagePods(25, { namespace: "small" }),
    ...outagePods(49_775, { owner: "ReplicaSet/web" }),
    ...outagePods(200, { namespace: "large" }),
  ];
  const startedMs = performance.now();
  expect(findAvalanches(pods, nowMs).map(({ namespace }) => namespace)).toEqual(["large", "small"]);
  expect(performance.now() - startedMs).toBeLessThan(1_000);
});

/** 219 stuck, ownerless pods as the API server gives them. */
function given(make: (index: number) => { readonly labels?: object; readonly container: object }): ClusterPod[] {
  const texts = new SharedTexts();
  return Array.from({ length: 219 }, (_, index) => {
    const { labels = {}, container } = make(index);
    const creationTimestamp = new Date(nowMs - 60 * minuteMs).toISOString();
    const metadata = { namespace: "fc-desktop", name: `p-${index}`, uid: `u-${index}`, creationTimestamp, labels };
    const spec = { nodeName: "n1", containers: [container] };
    const pod = projectClusterPod({ metadata, spec, status: { phase: "Pending" } }, texts);
    if (pod === undefined) throw new Error("no record");
    return pod;
  });
}

test("findAvalanches joins 219 pods that differ only in their commands and arguments", () => {
  const main = { name: "main", image: "rd:1" };
  for (const container of [
    (index: number) => ({ ...main, command: [`/bin/session-${index}`] }),
    (index: number) => ({ ...main, command: ["sh", "-c", `session ${index}`], args: [`--user=${index}`] }),
    (index: number) => ({ ...main, args: [`--user=${index}`] }),
  ]) {
    const pods = given((index) => ({ labels: { app: "rd" }, container: container(index) }));
    expect(findAvalanches(pods, nowMs).map(({ members }) => members.length)).toEqual([219]);
  }
});

for (const [what, make] of [
  ["pods of kubectl run", (index: number) => ({ labels: { run: "x" }, container: named(`try-${index}`) })],
  ["bare pods in which people try things", (index: number) => ({ container: named("main", [`tool-${index % 12}`]) })],
  ["pods of twelve makers", (index: number) => ({ labels: { [`app-${index % 12}`]: "" }, container: named("main") })],
  ["pods of twelve images", (index: number) => ({ container: { ...named("main"), image: `tool:${index % 12}` } })],
] as const) {
  test(`findAvalanches does not join 219 unrelated ${what}`, () => {
    expect(findAvalanches(given(make), nowMs)).toEqual([]);
  });
}

function named(name: string, command: readonly string[] = ["sleep", "1"]): object {
  return { name, image: "busybox", command };
}
