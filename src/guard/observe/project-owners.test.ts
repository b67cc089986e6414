import { expect, test } from "bun:test";
import { projectAutoscaler, projectCronJob, projectJob, projectReplicaSet } from "./project-owners.ts";

const above = (kind: string): object => ({
  ownerReferences: [
    { kind: "Other", name: "o" },
    { kind, name: "up", controller: true },
  ],
});

function metadata(more: object = {}): object {
  return { name: "a", namespace: "shop", uid: "u", ...more };
}

test("projectJob keeps its size and who is above it, and drops one that is over", () => {
  const job = { metadata: metadata(above("CronJob")), spec: { parallelism: 500 } };
  expect(projectJob(job)).toEqual({
    ...{ namespace: "shop", name: "a", uid: "u", parallelism: 500, isSuspended: false },
    ...{ above: "CronJob/up", trackedBy: "", instance: "" },
  });
  expect(projectJob({ metadata: metadata(), spec: { suspend: true } })).toMatchObject({
    parallelism: 1,
    isSuspended: true,
  });
  for (const type of ["Complete", "Failed"])
    expect(projectJob({ ...job, status: { conditions: [{ type, status: "True" }] } })).toBeUndefined();
  expect(projectJob({ ...job, status: { conditions: [{ type: "Suspended", status: "True" }] } })).toBeDefined();
  expect(projectJob({})).toBeUndefined();
});

test("projectCronJob and projectAutoscaler keep what decides, and drop what has no name", () => {
  expect(projectCronJob({ metadata: metadata(), spec: {} })).toMatchObject({ name: "a", isSuspended: false });
  const spec = { scaleTargetRef: { kind: "Deployment", name: "web" } };
  expect(projectAutoscaler({ metadata: metadata(), spec })).toEqual({
    ...{ namespace: "shop", name: "a", target: "Deployment/web" },
  });
  expect([projectCronJob({}), projectAutoscaler({})]).toEqual([undefined, undefined]);
});

test("projectJob keeps the queue of Kueue", () => {
  const labels = { "kueue.x-k8s.io/queue-name": "batch" };
  expect(projectJob({ metadata: metadata({ labels }), spec: { suspend: true } })).toMatchObject({ queue: "batch" });
});

test("projectReplicaSet drops those that are named after their Deployment, and keeps one that it has adopted", () => {
  const named = (name: string): unknown => projectReplicaSet({ metadata: { ...metadata(above("Deployment")), name } });
  expect(named("up-6f9c7d")).toBeUndefined();
  for (const name of ["before", "other-6f9c7d", "up-blue-1"])
    expect(named(name)).toMatchObject({ above: "Deployment/up" });
});

test("projectReplicaSet takes Argo CD's mark only if it is about this object", () => {
  const annotations = { "argocd.argoproj.io/tracking-id": "app:apps/ReplicaSet:shop/a" };
  const labels = { "app.kubernetes.io/instance": "rel" };
  expect(projectReplicaSet({ metadata: metadata({ annotations, labels }), spec: { replicas: 0 } })).toMatchObject({
    ...{ replicas: 0, above: "", trackedBy: "app", instance: "rel" },
  });
  const copied = { "argocd.argoproj.io/tracking-id": "app:apps/ReplicaSet:shop/b" };
  expect(projectReplicaSet({ metadata: metadata({ annotations: copied }) })).toMatchObject({
    ...{ replicas: 1, trackedBy: "" },
  });
});
