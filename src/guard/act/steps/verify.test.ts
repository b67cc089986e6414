import { expect, test } from "bun:test";
import type { VerifyStep } from "../../decision/step.ts";
import type { World } from "../../facts/world.ts";
import { outage } from "../../outage.fixture.ts";
import { minuteMs, outagePods, podList, stuckPod } from "../../world.fixture.ts";
import { listStuckRunner } from "./list-stuck.ts";
import { daemonSet, multusPath, Repair, traefikPath } from "./repair.fixture.ts";
import { verifyRunner } from "./verify.ts";

const podsPath = "/api/v1/namespaces/fc-desktop/pods";
const slicesPath = "/apis/discovery.k8s.io/v1/namespaces/kube-system/endpointslices";

function deployment(status: object): object {
  return { metadata: { name: "traefik", namespace: "kube-system", generation: 4 }, spec: { replicas: 2 }, status };
}

function slices(...ready: readonly boolean[]): object {
  const endpoints = ready.map((isReady) => ({ conditions: { ready: isReady } }));
  return {
    metadata: { resourceVersion: "1" },
    items: [{ metadata: { name: "s", namespace: "kube-system" }, endpoints }],
  };
}

/** A recovered cluster, in the watch and in the API server. */
function recovered(): Repair {
  const repair = new Repair();
  repair.server.objects.set(multusPath, daemonSet("1Gi"));
  repair.server.objects.set(traefikPath, deployment({ availableReplicas: 2, observedGeneration: 4 }));
  repair.server.objects.set(slicesPath, slices(true, false));
  repair.server.objects.set(podsPath, podList([]));
  return repair;
}

function missing(repair: Repair): Promise<string | undefined> {
  return verifyRunner.check(repair.step("Verify"), repair.context());
}

test("verifyRunner succeeds when every check holds, after confirming each in the API server", async () => {
  const repair = recovered();
  expect(await missing(repair)).toBeUndefined();
  expect(await verifyRunner.perform(repair.step("Verify"), repair.context())).toEqual({ message: "All 5 checks hold" });
  const read = repair.server.requests.map(({ path }) => path.split("?")[0]);
  expect(read).toEqual([podsPath, multusPath, traefikPath, slicesPath, multusPath]);
  expect(repair.server.requests[3]?.path).toContain("labelSelector=kubernetes.io%2Fservice-name%3Dtraefik");
  expect(repair.server.writes).toBe(0);
});

for (const [what, facts, text] of [
  ["the backlog", { pods: outagePods(20) }, "BacklogGone fc-desktop: 20 pods of the template wait, more than 19"],
  ["a DaemonSet", { daemonSets: outage().daemonSets }, "DaemonSetReady kube-system/kube-multus-ds: 1 of 3 are ready"],
  ["a DaemonSet that is gone", { daemonSets: [] }, "DaemonSetReady kube-system/kube-multus-ds: it is gone"],
  ["a Deployment", { deployments: outage().deployments }, "DeploymentAvailable kube-system/traefik: 0 of 2 are ready"],
  ["endpoints", { services: outage().services }, "EndpointsReady kube-system/traefik: no endpoint is ready"],
  ["a Service", { services: [] }, "EndpointsReady kube-system/traefik: there is no such Service"],
  ["Applications", { applications: outage().applications }, "1 of 1 Applications are Unknown, more than 0"],
  ["sight of any Application", { applications: [] }, "no Argo CD Application is visible"],
] satisfies readonly (readonly [string, Partial<World>, string])[]) {
  test(`verifyRunner names what is missing with ${what}, without asking the server`, async () => {
    const repair = recovered();
    repair.facts = facts;
    expect(await missing(repair)).toContain(`1 of 5 checks do not hold: `);
    expect(await missing(repair)).toContain(text);
    expect(repair.server.requests).toEqual([]);
  });
}

for (const [what, path, object, text] of [
  ["the DaemonSet", multusPath, daemonSet("1Gi", { status: { numberReady: 2 } }), "kube-multus-ds: 2 of 3 are ready"],
  [
    "its rollout",
    multusPath,
    daemonSet("1Gi", { status: { updatedNumberScheduled: 1 } }),
    "1 of 3 pods have the newest",
  ],
  ["its limit", multusPath, daemonSet("50Mi"), "is now 50Mi, not 1Gi"],
  ["the Deployment", traefikPath, deployment({ availableReplicas: 1 }), "traefik: 1 of 2 are ready"],
  [
    "its controller",
    traefikPath,
    deployment({ availableReplicas: 2 }),
    "its controller has not yet seen the newest change",
  ],
  ["the backlog", podsPath, podList(outagePods(20)), "fc-desktop: 20 pods of the template wait, more than 19"],
  ["the endpoints", slicesPath, slices(false), "EndpointsReady kube-system/traefik: no endpoint is ready"],
] as const) {
  test(`verifyRunner believes the server about ${what} when the watch is behind`, async () => {
    const repair = recovered();
    repair.server.objects.set(path, object);
    expect(await missing(repair)).toContain(text);
  });
}

test("verifyRunner counts new pods of the shape, and ignores another operator's pods", async () => {
  const repair = recovered();
  const nowMs = repair.clock.wallMs();
  repair.facts = { pods: outagePods(20, { createdMs: nowMs, boundMs: nowMs }) };
  expect(await missing(repair)).toContain("20 pods of the template wait");
  repair.facts = { pods: outagePods(20, { shape: "other- spec 1" }) };
  expect(await missing(repair)).toBeUndefined();
});

test("verifyRunner does not wait for the status of an Application that is not reconciled", async () => {
  const repair = recovered();
  repair.facts = { applications: outage().applications.map((one) => ({ ...one, skipsReconcile: true })) };
  expect(await missing(repair)).toBeUndefined();
});

test("verifyRunner does not demand new pods of a DaemonSet with OnDelete", async () => {
  const repair = recovered();
  const status = { updatedNumberScheduled: 0 };
  repair.server.objects.set(multusPath, daemonSet("1Gi", { status, strategy: "OnDelete" }));
  expect(await missing(repair)).toBeUndefined();
});

test("verifyRunner names every check that does not hold", async () => {
  const repair = recovered();
  repair.facts = { ...outage() };
  const step: VerifyStep = repair.step("Verify");
  expect(await verifyRunner.check(step, repair.context())).toStartWith(
    `5 of ${step.verify.checks.length} checks do not hold`,
  );
});

test("listStuckRunner gives workloads time to start by themselves, then lists the rest with their lines", async () => {
  const repair = new Repair();
  const nowMs = repair.clock.wallMs();
  const pod = (name: string, owner: string): ReturnType<typeof stuckPod> =>
    stuckPod(name, { namespace: "kube-system", owner, shape: "", boundMs: nowMs - 10 * minuteMs });
  const slow = pod("slow", "StatefulSet/db");
  repair.facts = { pods: [slow, pod("quick", "ReplicaSet/traefik-6f9c"), pod("cni", "DaemonSet/kube-multus-ds")] };
  const performed = listStuckRunner.perform(repair.step("ListStuck"), repair.context());
  await repair.clock.advance(30_000);
  repair.facts = { pods: [slow] };
  // A minute without a change.
  await repair.clock.advance(70_000);
  const result = await performed;
  expect(result).toEqual({
    message:
      "1 workloads are stuck; the lines restart or show them: StatefulSet kube-system/db (1); 2 of those in the plan are no longer stuck",
    lines: ["kubectl -n kube-system rollout restart statefulset/db"],
    followed: [{ kind: "StatefulSet", namespace: "kube-system", name: "db" }],
  });
  expect(await listStuckRunner.check(repair.step("ListStuck"), repair.context())).toBe("the list is not written yet");
  await repair.context().report(result);
  expect(await listStuckRunner.check(repair.step("ListStuck"), repair.context())).toBeUndefined();
});

test("listStuckRunner does not wait for ever for changing workloads, and not at all without any", async () => {
  const repair = new Repair();
  expect(await listStuckRunner.perform(repair.step("ListStuck"), repair.context())).toMatchObject({ lines: [] });
  const nowMs = repair.clock.wallMs();
  let looks = 0;
  function* pods(): Generator<ReturnType<typeof stuckPod>> {
    looks += 1;
    yield stuckPod(`p-${looks}`, { owner: `Job/j-${looks}`, shape: "", boundMs: nowMs - 10 * minuteMs });
  }
  repair.facts = { pods: { [Symbol.iterator]: pods } };
  const performed = listStuckRunner.perform(repair.step("ListStuck"), repair.context());
  await repair.clock.advance(305_000);
  expect((await performed).lines?.length).toBe(1);
});

const dbPath = "/apis/apps/v1/namespaces/shop/statefulsets/db";

/** A StatefulSet that nobody knew of at the proposal has a pod that does not start. */
function fallenLater(repair: Repair, boundMs = repair.clock.wallMs() - 10 * minuteMs): ReturnType<typeof stuckPod> {
  return stuckPod("db-0", { namespace: "shop", owner: "StatefulSet/db", shape: "", boundMs });
}

/** The report goes into the status, as StepDrive does it. */
function reporting(repair: Repair): ReturnType<Repair["context"]> {
  const report = async (changes: object): Promise<void> => repair.mark("Verify", "Running", changes);
  return Object.defineProperties(repair.context(), { report: { value: report } });
}

test("verifyRunner waits for a workload that fell after the proposal, while it is stuck and until it is ready", async () => {
  const repair = recovered();
  const step = repair.step("Verify");
  const look = (): Promise<string | undefined> => verifyRunner.check(step, reporting(repair));
  repair.facts = { pods: [fallenLater(repair)] };
  expect(await look()).toBe("1 of 6 checks do not hold: StatefulSet shop/db has pods that do not start");
  expect(repair.decision.status?.steps?.at(-1)?.followed).toEqual([
    { kind: "StatefulSet", namespace: "shop", name: "db" },
  ]);
  // It has its network, and no more than that.
  repair.facts = { pods: [] };
  const live = (readyReplicas: number): object => ({ spec: { replicas: 2 }, status: { readyReplicas } });
  repair.server.objects.set(dbPath, live(1));
  expect(await look()).toBe("1 of 6 checks do not hold: StatefulSetReady shop/db: 1 of 2 are ready");
  repair.server.objects.set(dbPath, live(2));
  expect(await look()).toBeUndefined();
  // A person has deleted it.
  repair.server.objects.delete(dbPath);
  expect(await look()).toBeUndefined();
  expect((await verifyRunner.perform(step, repair.context())).message).toBe(
    "All 5 checks hold, and so do those of 1 workloads that stopped starting after the proposal",
  );
});

test("verifyRunner does not wait for a workload that was stuck before the cause began", async () => {
  const repair = recovered();
  repair.facts = { pods: [fallenLater(repair, repair.clock.wallMs() - 61 * minuteMs)] };
  expect(await missing(repair)).toBeUndefined();
});

test("verifyRunner waits for a Job's pods to start, and for no more of it", async () => {
  const repair = recovered();
  repair.facts = { pods: [{ ...fallenLater(repair), owner: "Job/import" }] };
  const look = (): Promise<string | undefined> => verifyRunner.check(repair.step("Verify"), reporting(repair));
  expect(await look()).toBe("1 of 6 checks do not hold: Job shop/import has pods that do not start");
  repair.facts = { pods: [] };
  expect(await look()).toBeUndefined();
});

test("verifyRunner counts what an earlier step has seen fall, although it is no longer stuck", async () => {
  const repair = recovered();
  repair.mark("ListStuck", "Done", { followed: [{ kind: "DaemonSet", namespace: "longhorn", name: "csi-plugin" }] });
  const path = "/apis/apps/v1/namespaces/longhorn/daemonsets/csi-plugin";
  repair.server.objects.set(path, { status: { desiredNumberScheduled: 3, numberReady: 0 } });
  expect(await missing(repair)).toContain("DaemonSetReady longhorn/csi-plugin: 0 of 3 are ready");
});
