import { afterEach, expect, test } from "bun:test";
import { silentLogger } from "../../base/log.ts";
import { KubeError } from "../../kube/client/api.ts";
import { FakeApi, page } from "../../kube/client/fake-api.fixture.ts";
import { ManualClock, settleIo } from "../../kube/manual-clock.fixture.ts";
import { installedPolicies } from "../approve/policies.fixture.ts";
import { propose } from "../decide/propose.ts";
import { defaultGuardSettings } from "../facts/guard-settings.ts";
import { ClusterFacts } from "./cluster-facts.ts";

const clock = new ManualClock();
let facts: ClusterFacts | undefined;
afterEach(async () => facts?.close());

/** An API server without Argo CD, with these objects by path. */
function start(objects: Readonly<Record<string, readonly unknown[]>>, missing = "/apis/argoproj.io"): FakeApi {
  const api = new FakeApi();
  api.onCall = ({ pathname }) => {
    if (pathname.startsWith("/apis/argoproj.io") || pathname.startsWith(missing))
      throw new KubeError("api-refused", "no such thing", { status: 404, reason: "NotFound" });
    return page("10", objects[pathname] ?? []);
  };
  facts = new ClusterFacts({
    api,
    clock,
    logger: silentLogger,
    settings: defaultGuardSettings,
    sources: {
      alerts: () => [],
      nodeViews: () => [],
      memoryCalms: () => undefined,
      gitFiles: () => [],
      notes: () => ["podsPerDay: 500"],
    },
  });
  return api;
}

function pod(index: number, madeMs: number): object {
  return {
    metadata: {
      name: `rd-${index}`,
      namespace: "fc-desktop",
      uid: `u-${index}`,
      generateName: "rd-",
      creationTimestamp: new Date(madeMs).toISOString(),
    },
    spec: { nodeName: "n1", containers: [{ name: "c", image: "i" }] },
    status: { phase: "Pending" },
  };
}

test("ClusterFacts is synced without Argo CD, and its world leads to both proposals", async () => {
  const madeMs = clock.wallMs() - 600_000;
  const api = start({ "/api/v1/pods": Array.from({ length: 25 }, (_, index) => pod(index, madeMs)) });
  expect(facts?.synced()).toBe(false);
  await settleIo();
  expect(facts?.synced()).toBe(true);
  const proposals = propose(facts!.world(), defaultGuardSettings);
  expect(proposals.map(({ name }) => name)).toEqual(["stop-fc-desktop-1", "recover-fc-desktop-1"]);
  expect(proposals[0]?.spec.notes).toContain("podsPerDay: 500");
  expect(api.calls.find(({ pathname }) => pathname === "/api/v1/pods")?.searchParams.get("resourceVersion")).toBe("0");
  expect(api.calls.find(({ pathname }) => pathname === "/api/v1/events")?.searchParams.get("fieldSelector")).toBe(
    "reason=FailedCreatePodSandBox",
  );
});

test("ClusterFacts is blind, and names the resource, when a definition other than Argo CD's is missing", async () => {
  start({}, "/apis/levee.dev/");
  await settleIo();
  expect(facts?.synced()).toBe(false);
  expect(facts?.isCurrent()).toBe(false);
  const absent = facts?.health().filter(({ isAbsent }) => isAbsent);
  expect(absent?.map(({ resource }) => resource)).toEqual(["applications", "appprojects"]);
  const unsynced = facts?.health().filter(({ isSynced, isAbsent }) => !isSynced && !isAbsent);
  expect(unsynced?.map(({ resource }) => resource)).toEqual(["decisions", "decisionapprovals"]);
});

test("ClusterFacts follows what happens after its lists, and counts the ready endpoints of a Service", async () => {
  const api = start({
    "/api/v1/services": [{ metadata: { name: "s", namespace: "n" }, spec: { selector: { a: "b" } } }],
    "/apis/discovery.k8s.io/v1/endpointslices": ["s-1", "s-2"].map((name) => ({
      metadata: { name, namespace: "n", labels: { "kubernetes.io/service-name": "s" } },
      endpoints: [{ conditions: { ready: true } }],
    })),
  });
  await settleIo();
  expect(facts?.world().services).toEqual([{ namespace: "n", name: "s", readyEndpoints: 2 }]);
  const watch = api.watches.find(({ url }) => url.pathname === "/api/v1/pods");
  watch?.event("ADDED", {
    ...pod(1, clock.wallMs()),
    metadata: { name: "rd-1", namespace: "n", resourceVersion: "11" },
  });
  await settleIo();
  expect([...facts!.world().pods].map(({ name }) => name)).toEqual(["rd-1"]);
});

test("ClusterFacts knows the policy when it and its binding are as shipped, and Decisions by what this guard can have written", async () => {
  const policies = installedPolicies("2026-05-10T19:00:00Z");
  const ofKind = (kind: string): readonly unknown[] => policies.filter((policy) => policy.kind === kind);
  const group = "/apis/admissionregistration.k8s.io/v1";
  const objects = {
    [`${group}/validatingadmissionpolicies`]: ofKind("ValidatingAdmissionPolicy"),
    [`${group}/validatingadmissionpolicybindings`]: ofKind("ValidatingAdmissionPolicyBinding"),
    "/apis/levee.dev/v1alpha1/namespaces/levee-system/decisions": [{ metadata: { name: "strange" }, spec: {} }],
  };
  start(objects);
  await settleIo();
  expect(facts?.world()).toMatchObject({ isOwnerPolicyInstalled: true, decisions: [] });
  await facts?.close();
  start({ ...objects, [`${group}/validatingadmissionpolicybindings`]: [] });
  await settleIo();
  expect(facts?.world().isOwnerPolicyInstalled).toBe(false);
});
