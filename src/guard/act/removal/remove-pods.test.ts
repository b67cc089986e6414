import { beforeEach, expect, test } from "bun:test";
import type { KubeRequest } from "../../../kube/client/api.ts";
import { propose } from "../../decide/propose.ts";
import type { PodTarget, RemovePodsStep, StopSourceStep } from "../../decision/step.ts";
import type { ClusterPod } from "../../facts/cluster-pod.ts";
import { defaultGuardSettings as settings } from "../../facts/guard-settings.ts";
import type { World } from "../../facts/world.ts";
import { outage } from "../../outage.fixture.ts";
import { carryOut } from "../carry-out.ts";
import { forceProblem } from "./force-problem.ts";
import { GuardedServer, refusal } from "../guarded.fixture.ts";
import { removePodsRunner } from "./remove-pods.ts";

let server: GuardedServer;
/** The time of each removal without dry run, and whether it was by force. */
let removals: { readonly atMs: number; readonly uid: string; readonly force: boolean }[];
/** Whether a deleted pod really goes. */
let goes: (target: PodTarget, force: boolean) => boolean;
let step: RemovePodsStep;

beforeEach(() => {
  server = new GuardedServer(["RemovePods"]);
  step = server.decision.spec.steps[0] as RemovePodsStep;
  removals = [];
  goes = () => true;
  server.seen = outage({ pods: [...outage().pods], nodes: [] });
  server.objects.set("/api/v1/namespaces/fc-desktop", { metadata: { labels: { "levee.dev/ownerless-pods": "deny" } } });
  for (const target of step.targets) server.objects.set(pathOf(target), live(target));
  server.answer = answer;
});

function pathOf({ name }: PodTarget): string {
  return `/api/v1/namespaces/fc-desktop/pods/${name}`;
}

function live({ namespace, name, uid, node }: PodTarget, metadata: object = {}): object {
  return { metadata: { namespace, name, uid, ...metadata }, spec: { nodeName: node }, status: { phase: "Pending" } };
}

function answer({ method, path, body }: KubeRequest): string | Error | undefined {
  if (path.endsWith("/configmaps")) return budget(body);
  if (method === "PATCH" && path.endsWith("/configmaps/levee-guard")) return budget(body);
  if (method !== "DELETE") return undefined;
  const { dryRun, gracePeriodSeconds, preconditions } = JSON.parse(body ?? "{}") as {
    dryRun?: unknown;
    gracePeriodSeconds?: number;
    preconditions: { uid: string };
  };
  const target = step.targets.find((one) => one.uid === preconditions.uid);
  if (target === undefined || !server.objects.has(path)) return refusal(404);
  if (dryRun !== undefined) return "{}";
  const force = gracePeriodSeconds === 0;
  removals.push({ atMs: server.clock.wallMs(), uid: target.uid, force });
  if (goes(target, force)) remove(target);
  else server.objects.set(path, live(target, { deletionTimestamp: "2026-05-10T19:00:00Z" }));
  return "{}";
}

/** As the API server keeps it. */
function budget(body: string | undefined): string {
  const object = { ...(JSON.parse(body ?? "{}") as object), metadata: { resourceVersion: "1" } };
  server.objects.set("/api/v1/namespaces/levee-system/configmaps/levee-guard", object);
  return JSON.stringify(object);
}

function remove(target: PodTarget): void {
  server.objects.delete(pathOf(target));
  server.seen = { ...server.seen, pods: [...server.seen.pods].filter(({ uid }) => uid !== target.uid) };
}

async function outcome(): Promise<string | undefined> {
  let phase: string | undefined;
  const running = carryOut(server.options({ runners: { RemovePods: removePodsRunner } }), server.decision);
  void running.then((end) => (phase = end));
  for (let seconds = 0; phase === undefined && seconds < 3_000; seconds += 1) await server.clock.advance(1_000);
  return phase;
}

test("removePodsRunner removes at most 120 pods a minute and ten at once per node, each batch after the previous one is gone", async () => {
  expect(await outcome()).toBe("Succeeded");
  expect(removals.length).toBe(219);
  const minutes = new Map<number, number>();
  for (const { atMs } of removals)
    minutes.set(Math.floor(atMs / 60_000), (minutes.get(Math.floor(atMs / 60_000)) ?? 0) + 1);
  for (const count of minutes.values()) expect(count).toBeLessThanOrEqual(120);
  expect(server.decision.status?.steps?.[0]).toMatchObject({ removed: 219, gone: 0, leftAlone: [] });
  expect(server.decision.status?.intent).toMatchObject({ step: 1, batch: 8 });
});

test("removePodsRunner forces only pods that hang long enough, and leaves alone pods that their node may have started", async () => {
  const [first, second, third] = step.targets as [PodTarget, PodTarget, PodTarget];
  goes = ({ uid }, force) => (uid !== first.uid && uid !== second.uid && uid !== third.uid ? true : force);
  const node = (name: string, status: string): object => ({
    metadata: { name },
    status: { conditions: [{ type: "Ready", status }] },
  });
  server.objects.set(`/api/v1/nodes/${first.node}`, node(first.node, "False"));
  server.objects.set(`/api/v1/nodes/${second.node}`, node(second.node, "Unknown"));
  expect(await outcome()).toBe("Succeeded");
  const forced = removals.filter(({ force }) => force);
  expect(forced.map(({ uid }) => uid).toSorted()).toEqual([first.uid, third.uid].toSorted());
  const asked = removals.find(({ uid, force }) => uid === first.uid && !force);
  expect((forced[0]?.atMs ?? 0) - (asked?.atMs ?? 0)).toBeGreaterThanOrEqual(60_000);
  expect(server.decision.status?.steps?.[0]).toMatchObject({
    message: "Of 219 pods: 218 removed, 0 gone already, 1 left alone",
    leftAlone: [`fc-desktop/${second.name}: it was deleted, but its node does not answer, so it may be running`],
  });
});

test("removePodsRunner counts each pod once, also when it begins again after a pause", async () => {
  const [hangs, gone, started] = step.targets as [PodTarget, PodTarget, PodTarget];
  const unknown = { metadata: {}, status: { conditions: [{ type: "Ready", status: "Unknown" }] } };
  server.objects.set(`/api/v1/nodes/${hangs.node}`, unknown);
  goes = ({ uid }) => uid !== hangs.uid;
  remove(gone);
  server.objects.set(pathOf(started), { ...live(started), status: { phase: "Running", podIP: "10.0.0.1" } });
  let count = 0;
  server.answer = (request) => {
    if (request.method !== "DELETE" || request.body?.includes("dryRun") === true) return answer(request);
    count += 1;
    return count === 100 ? new Error("the request is lost") : answer(request);
  };
  expect(await outcome()).toBe("Paused");
  expect(countedIn(server)).toBeLessThanOrEqual(219);
  server.answer = answer;
  server.decision = { ...server.decision, status: { ...server.decision.status!, phase: "Approved" } };
  expect(await outcome()).toBe("Succeeded");
  expect(server.decision.status?.steps?.[0]?.leftAlone?.length).toBe(2);
  expect(countedIn(server)).toBe(219);
});

function countedIn({ decision }: GuardedServer): number {
  const { removed = 0, gone = 0, leftAlone = [] } = decision.status?.steps?.[0] ?? {};
  return removed + gone + leftAlone.length;
}

test("removePodsRunner waits between batches while a daemon has more to do than before, and not for ever", async () => {
  const view = (waiting: number): World["nodeViews"] => [
    { node: "rke2-agent1", atMs: server.seen.nowMs, waiting, running: 1, leaks: 0 },
  ];
  server.seen = { ...server.seen, nodeViews: view(5) };
  let busyMs = 0;
  goes = () => {
    if (busyMs === 0) {
      busyMs = server.clock.monotonicMs() + 1;
      server.seen = { ...server.seen, nodeViews: view(300) };
    }
    return true;
  };
  expect(await outcome()).toBe("Succeeded");
  const second = removals[30]!;
  expect(second.atMs - removals[0]!.atMs).toBeGreaterThanOrEqual(60_000);
});

test("removePodsRunner stops when the rest has started by itself", async () => {
  let count = 0;
  goes = () => {
    count += 1;
    if (count === 1) {
      const started = (pod: ClusterPod): ClusterPod => ({ ...pod, phase: "Running", everRan: true });
      server.seen = { ...server.seen, pods: [...server.seen.pods].map(started) };
      for (const target of step.targets)
        server.objects.set(pathOf(target), { ...live(target), status: { phase: "Running", podIP: "10.0.0.1" } });
    }
    return true;
  };
  expect(await outcome()).toBe("Paused");
  expect(removals.length).toBe(1);
  expect(server.decision.status?.message).toContain("its cause is gone");
  expect(server.decision.status?.steps?.[0]?.leftAlone?.length).toBeGreaterThan(20);
});

test("removePodsRunner does not begin while the breaker is open, or the source is not stopped", async () => {
  const open = JSON.stringify({ hours: {}, breaker: "too many" });
  const path = "/api/v1/namespaces/levee-system/configmaps/levee-guard";
  server.objects.set(path, { metadata: { resourceVersion: "1" }, data: { "removal-budget": open } });
  expect(await outcome()).toBe("Paused");
  expect(server.decision.status?.message).toContain("the breaker is open: too many");
  server.objects.set("/api/v1/namespaces/fc-desktop", { metadata: {} });
  server.objects.delete(path);
  server.decision = { ...server.decision, status: { ...server.decision.status!, phase: "Approved" } };
  expect(await outcome()).toBe("Paused");
  expect(server.decision.status?.message).toContain("approve its stop first");
  expect(removals).toEqual([]);
});

test("removePodsRunner accepts a quota in force as a stop, if it has no room or a person has approved it", async () => {
  server.objects.set("/api/v1/namespaces/fc-desktop", { metadata: {} });
  const path = "/api/v1/namespaces/fc-desktop/resourcequotas/levee-ownerless-pods";
  const hard = { pods: "20" };
  const outcomeWith = (status?: object): Promise<string | undefined> => {
    server.objects.set(path, { spec: { hard }, ...(status === undefined ? {} : { status }) });
    server.decision = { ...server.decision, status: { ...server.decision.status!, phase: "Approved" } };
    return outcome();
  };
  expect(await outcomeWith()).toBe("Paused");
  expect(await outcomeWith({ hard, used: { pods: "19" } })).toBe("Paused");
  expect(server.decision.status?.message).toContain("allows 20 pods and has room for more");
  expect(removals).toEqual([]);
  const [stop] = propose(outage({ isOwnerPolicyInstalled: false }), settings);
  const step = stop!.spec.steps[0] as StopSourceStep;
  const stopSource = { ...step.stopSource, way: "Quota", quota: "levee-ownerless-pods", pods: 20 } as const;
  const approved = { ...server.decision, spec: { ...stop!.spec, steps: [{ ...step, stopSource }] } };
  server.seen = { ...server.seen, decisions: [approved] };
  expect(await outcomeWith({ hard, used: { pods: "19" } })).toBe("Succeeded");
});

test("removePodsRunner accepts a used-up quota as a stop", async () => {
  server.objects.set("/api/v1/namespaces/fc-desktop", { metadata: {} });
  const status = { hard: { pods: "20" }, used: { pods: "223" } };
  server.objects.set("/api/v1/namespaces/fc-desktop/resourcequotas/levee-ownerless-pods", { status });
  expect(await outcome()).toBe("Succeeded");
});

test("forceProblem forces no pod that waits for something else", () => {
  expect(forceProblem({ metadata: { finalizers: ["a/b"] } }, undefined)).toContain("finalizers");
  expect(forceProblem({}, undefined)).toBeUndefined();
  expect(forceProblem({}, {})).toContain("does not answer");
});
