import { expect, test } from "bun:test";
import type { PodTarget, SetMemoryLimitStep } from "../decision/step.ts";
import { classifyTarget } from "./removal/classify-target.ts";
import { deleteOptions, podPath } from "./removal/delete-options.ts";
import { memoryPatch } from "./steps/memory-patch.ts";
import { removalBatches } from "./removal/removal-batches.ts";

const target: PodTarget = { namespace: "fc-desktop", name: "rd-1", uid: "u-1", node: "n1" };

function live(metadata: object = {}, status: object = { phase: "Pending" }): object {
  return {
    metadata: { namespace: "fc-desktop", name: "rd-1", uid: "u-1", ...metadata },
    spec: { nodeName: "n1" },
    status,
  };
}

for (const [verdict, pod] of [
  ["Remove", live()],
  ["Gone", undefined],
  ["Replaced", live({ uid: "u-2" })],
  ["Replaced", {}],
  ["Mirror", live({ annotations: { "kubernetes.io/config.mirror": "x" } })],
  ["Owned", live({ ownerReferences: [{ kind: "ReplicaSet", name: "x" }] })],
  ["Started", live({}, { phase: "Running" })],
  ["Started", live({}, { phase: "Pending", podIP: "10.0.0.1" })],
  ["Started", live({}, { phase: "Pending", containerStatuses: [{ containerID: "containerd://1" }] })],
  ["Started", live({}, {})],
  ["Exempt", live({ annotations: { "levee.dev/ownerless-reason": "CI" } })],
  ["Leaving", live({ deletionTimestamp: "2026-05-10T19:00:00Z" })],
] as const) {
  test(`classifyTarget says ${verdict} of ${JSON.stringify(pod) ?? "nothing"}`, () => {
    expect(classifyTarget(target, pod)).toBe(verdict);
  });
}

test("removalBatches has each target once, and never too many on one node", () => {
  const targets = Array.from({ length: 219 }, (_, index): PodTarget => {
    // One node has most of them.
    const node = index % 10 === 0 ? `n${index % 3}` : "busy";
    return { namespace: "n", name: `p-${index}`, uid: `u-${index}`, node };
  });
  const batches = removalBatches(targets, 10);
  expect(batches.flat().length).toBe(219);
  expect(new Set(batches.flat()).size).toBe(219);
  for (const batch of batches)
    for (const node of new Set(batch.map((one) => one.node)))
      expect(batch.filter((one) => one.node === node).length).toBeLessThanOrEqual(10);
  expect(batches.length).toBe(20);
});

test("removalBatches keeps a batch within 100, whatever the nodes, and refuses a size that removes nothing", () => {
  const targets = Array.from({ length: 250 }, (_, index): PodTarget => ({
    ...target,
    uid: `u-${index}`,
    node: `n${index}`,
  }));
  expect(removalBatches(targets, 10).map(({ length }) => length)).toEqual([100, 100, 50]);
  expect(removalBatches([], 10)).toEqual([]);
  for (const size of [0, -1, 0.5, Number.NaN]) expect(() => removalBatches(targets, size)).toThrow(RangeError);
});

test("deleteOptions carries the UID and, for a trial, the dry run in the body", () => {
  expect(JSON.parse(deleteOptions(target, { dryRun: true, force: false }))).toEqual({
    apiVersion: "v1",
    kind: "DeleteOptions",
    preconditions: { uid: "u-1" },
    propagationPolicy: "Background",
    dryRun: ["All"],
  });
  const forced = JSON.parse(deleteOptions(target, { dryRun: false, force: true })) as object;
  expect(forced).toMatchObject({ gracePeriodSeconds: 0, preconditions: { uid: "u-1" } });
  expect(forced).not.toHaveProperty("dryRun");
  expect(() => deleteOptions({ ...target, uid: "" }, { dryRun: true, force: false })).toThrow(RangeError);
  expect(podPath({ ...target, name: "a/../b" })).toBe("/api/v1/namespaces/fc-desktop/pods/a%2F..%2Fb");
});

const step = {
  setMemoryLimit: {
    kind: "DaemonSet",
    namespace: "kube-system",
    name: "kube-multus-ds",
    uid: "uid-multus",
    container: "kube-multus",
    oldLimit: "50Mi",
    newLimit: "1Gi",
    oldRequest: "50Mi",
    newRequest: "50Mi",
  },
} as SetMemoryLimitStep;

const began = { at: "2026-05-11T10:30:00Z", seen: "" };

function daemonSet(memory: string | undefined, changes: { uid?: string; name?: string } = {}): object {
  const { uid = "uid-multus", name = "kube-multus" } = changes;
  const containers = [{ name: "sidecar" }, { name, resources: { limits: { memory } } }];
  return { metadata: { uid }, spec: { template: { spec: { containers } } } };
}

test("memoryPatch tests UID, container and old value before it replaces the one field", () => {
  expect(memoryPatch(step, daemonSet("50Mi"), began)).toEqual({
    patch: [
      { op: "test", path: "/metadata/uid", value: "uid-multus" },
      { op: "test", path: "/spec/template/spec/containers/1/name", value: "kube-multus" },
      { op: "test", path: "/spec/template/spec/containers/1/resources/limits/memory", value: "50Mi" },
      { op: "replace", path: "/spec/template/spec/containers/1/resources/limits/memory", value: "1Gi" },
      {
        op: "add",
        path: "/metadata/annotations",
        value: { "memory-before.levee.dev/kube-multus": `uid-multus 50Mi - 1Gi - ${began.at} -` },
      },
    ],
  });
});

test("memoryPatch has nothing to do when the limit is set, and names the problem otherwise", () => {
  expect(memoryPatch(step, daemonSet("1Gi"), began)).toEqual({ isDone: true });
  const problem = (live: unknown): unknown => memoryPatch(step, live, began);
  expect(problem(daemonSet("256Mi"))).toEqual({
    problem: "the memory limit of kube-multus in DaemonSet kube-system/kube-multus-ds is 256Mi, not 50Mi",
  });
  expect(problem(daemonSet(undefined))).toMatchObject({ problem: expect.stringContaining("is not set, not 50Mi") });
  expect(problem(daemonSet("50Mi", { uid: "other" }))).toMatchObject({
    problem: expect.stringContaining("was replaced"),
  });
  expect(problem(daemonSet("50Mi", { name: "x" }))).toMatchObject({
    problem: expect.stringContaining("has no container"),
  });
  expect(problem(undefined)).toEqual({ problem: "DaemonSet kube-system/kube-multus-ds is gone" });
});
