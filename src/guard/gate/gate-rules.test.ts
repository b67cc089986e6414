import { expect, test } from "bun:test";
import type { GateReason } from "../../wire/gate-codes.ts";
import type { Decision } from "../decision/decision.ts";
import type { World } from "../facts/world.ts";
import { outagePods, readyPod } from "../world.fixture.ts";
import { doorPods, gateNodes, gateNowMs, markedView, nodesWith, someGateFacts, viewOf } from "./gate.fixture.ts";
import type { GateWorld } from "./gate-facts-of.ts";
import { reasonsToDeny } from "./gate-rules.ts";
import { defaultGateSettings } from "./gate-settings.ts";
import { parseRebootWindow, type RebootWindow } from "./reboot-window.ts";

const [master] = gateNodes;

function reasonsOf(facts: Partial<World> = {}, more: Partial<Omit<GateWorld, "world">> = {}): readonly GateReason[] {
  return reasonsToDeny(master!, someGateFacts(facts, more));
}

function codesOf(facts: Partial<World> = {}, more: Partial<Omit<GateWorld, "world">> = {}): readonly string[] {
  return reasonsOf(facts, more).map(({ code }) => code);
}

test("nothing keeps a node of a quiet cluster from its reboot", () => {
  expect(reasonsOf()).toEqual([]);
});

test("FiringAlert: an alert that fires; not those that always fire, and none of Levee's own", () => {
  const alert = { name: "TargetDown", labels: { namespace: "web" }, startsMs: gateNowMs - 60_000 };
  const [reason] = reasonsOf({ alerts: [alert] });
  expect(reason).toMatchObject({
    code: "FiringAlert",
    sinceMs: alert.startsMs,
    object: "Alert/alertname=TargetDown,namespace=web",
  });
  expect(reason?.remedy).toContain("levee gate except 'alertname=TargetDown,namespace=web'");
  const [hostile] = reasonsOf({ alerts: [{ ...alert, labels: { pod: "x'; reboot '" } }] });
  expect(hostile?.remedy).toContain(`levee gate except 'alertname=TargetDown,pod=x'\\''; reboot '\\''' --until`);
  const own = { name: "KuredRebootBacklog", labels: { product: "levee" }, startsMs: 1 };
  expect(codesOf({ alerts: [own, { name: "Watchdog", labels: {}, startsMs: 1 }] })).toEqual([]);
});

test("FiringAlert: of many alerts twenty are named, and the rest is counted", () => {
  const alerts = Array.from({ length: 45 }, (_, index) => ({ name: `A${index}`, labels: {}, startsMs: 1 }));
  const found = reasonsOf({ alerts });
  expect(found.length).toBe(20);
  expect(found[19]?.message).toEndWith("; 25 more alerts fire");
});

test("AlertsUnreadable: an Alertmanager that is set and silent; not one that is not set", () => {
  expect(codesOf({ alertsUnread: "connection refused" })).toEqual(["AlertsUnreadable"]);
});

function decision(name: string, phase?: string, cause = "OwnerlessPodAvalanche"): Decision {
  const status = phase === undefined ? {} : { status: { phase, since: "2026-05-30T03:00:00Z" } };
  return {
    metadata: { name, creationTimestamp: "2026-05-30T02:00:00Z" },
    spec: { cause },
    ...status,
  } as unknown as Decision; // only what is read
}

test("DecisionOpen: a Decision that waits or runs; not one that has ended, nor one about reboots", () => {
  const decisions = [decision("new"), decision("running", "Running"), decision("done", "Succeeded")];
  const found = reasonsOf({ decisions });
  expect(found.map(({ code, object }) => [code, object])).toEqual([
    ["DecisionOpen", "Decision/new"],
    ["DecisionOpen", "Decision/running"],
  ]);
  expect(found[0]?.remedy).toContain("approve or reject");
  expect(codesOf({ decisions: [decision("waits", "Proposed", "RebootBacklog")] })).toEqual([]);
  // Nothing is broken while it waits; once it is approved, daemons restart.
  const lower = (phase: string): Decision => {
    const one = decision("lower", phase);
    return { ...one, spec: { ...one.spec, purpose: "LowerMemory" } };
  };
  expect(codesOf({ decisions: [lower("Proposed")] })).toEqual([]);
  expect(codesOf({ decisions: [lower("Running")] })).toEqual(["DecisionOpen"]);
});

test("PodBacklog: ten late pods on one node or 25 in the cluster; not nine, and not pods that are bound this minute", () => {
  const late = (count: number, boundMs = gateNowMs - 120_000): World["pods"] => [
    ...doorPods,
    ...outagePods(count, { boundMs, node: "k8s-node2" }),
  ];
  expect(codesOf({ pods: late(10) })).toEqual(["PodBacklog"]);
  expect(codesOf({ pods: late(9) })).toEqual([]);
  expect(codesOf({ pods: late(200, gateNowMs - 30_000) })).toEqual([]);
  const spread = (count: number): World["pods"] => [
    ...doorPods,
    ...outagePods(count, { boundMs: gateNowMs - 120_000 }).map((pod, index) => ({ ...pod, node: `n${index % 3}` })),
  ];
  expect(reasonsOf({ pods: spread(26) })).toMatchObject([{ code: "PodBacklog", object: "Cluster" }]);
  expect(codesOf({ pods: spread(24) })).toEqual([]);
});

test("PodBacklog: ten calls that wait in a node's daemon; not nine", () => {
  const views = (waiting: number): World["nodeViews"] => [markedView, viewOf("k8s-node1", { waiting })];
  expect(reasonsOf({ nodeViews: views(10) })).toMatchObject([{ code: "PodBacklog", object: "Node/k8s-node1" }]);
  expect(codesOf({ nodeViews: views(9) })).toEqual([]);
});

const daemonSet = { namespace: "levee-system", name: "levee", desired: 3, ready: 3 } as World["daemonSets"][number]; // only what is read

test("CniDaemonNotReady: of another node, or missing; not of the node itself", () => {
  const pods = (node: string): World["pods"] =>
    doorPods.map((pod) => (pod.node === node ? { ...pod, isReady: false } : pod));
  expect(codesOf({ daemonSets: [daemonSet], pods: doorPods })).toEqual([]);
  expect(reasonsOf({ daemonSets: [daemonSet], pods: pods("k8s-node1") })).toMatchObject([
    { code: "CniDaemonNotReady", object: "Node/k8s-node1" },
  ]);
  expect(codesOf({ daemonSets: [daemonSet], pods: pods("k8s-master") })).toEqual([]);
  expect(reasonsOf({ daemonSets: [{ ...daemonSet, desired: 4 }] })).toMatchObject([
    { code: "CniDaemonNotReady", message: "1 pods of the CNI daemon levee-system/levee are missing" },
  ]);
});

function lock(text: string, name = "kured"): Partial<World> {
  return { daemonSets: [{ ...daemonSet, namespace: "kube-system", name, kuredLock: text }] };
}

test("KuredLockHeld: by another node; not by the node itself, and not after its time to live", () => {
  const held = (node: string, more = {}): Partial<World> =>
    lock(JSON.stringify({ nodeID: node, created: "2026-05-30T03:00:00Z", TTL: 0, ...more }));
  expect(reasonsOf(held("k8s-node1"))).toMatchObject([
    { code: "KuredLockHeld", object: "Node/k8s-node1", sinceMs: Date.parse("2026-05-30T03:00:00Z") },
  ]);
  expect(codesOf(held("k8s-master"))).toEqual([]);
  expect(codesOf(held("k8s-node1", { TTL: 600e9 }))).toEqual([]);
  expect(codesOf(held("k8s-node1", { TTL: 7_200e9 }))).toEqual(["KuredLockHeld"]);
  const several = JSON.stringify({ maxOwners: 2, locks: [{ nodeID: "k8s-master" }, { nodeID: "k8s-node2" }] });
  expect(codesOf(lock(several))).toEqual(["KuredLockHeld"]);
});

test("KuredLockOrphaned: held by no node of the cluster, or unreadable; not on another DaemonSet", () => {
  const [reason] = reasonsOf(lock('{"nodeID":"gone-node"}'));
  expect(reason).toMatchObject({ code: "KuredLockOrphaned", object: "DaemonSet/kube-system/kured" });
  expect(reason?.remedy).toContain("kubectl -n kube-system annotate ds kured weave.works/kured-node-lock-");
  expect(codesOf(lock("garbage"))).toEqual(["KuredLockOrphaned"]);
  expect(codesOf(lock('{"nodeID":"gone-node"}', "somebody-else"))).toEqual([]);
});

test("LastHealthyReplica: the only healthy one is here; not with another healthy one, nor with one elsewhere", () => {
  const replica = (node: string, isHealthy = true): GateWorld["replicas"] extends Iterable<infer R> ? R : never => ({
    namespace: "longhorn-system",
    name: `r-${node}`,
    volume: "pvc-1",
    node,
    isHealthy,
  });
  expect(codesOf({}, { replicas: [replica("k8s-master"), replica("k8s-node1", false)] })).toEqual([
    "LastHealthyReplica",
  ]);
  expect(codesOf({}, { replicas: [replica("k8s-master"), replica("k8s-node1")] })).toEqual([]);
  expect(codesOf({}, { replicas: [replica("k8s-node1"), replica("k8s-master", false)] })).toEqual([]);
});

test("DisruptionBudget: one that allows nothing and covers a pod here; not elsewhere, nor for pods that a drain leaves", () => {
  const budget = { namespace: "db", name: "pg", isShut: true, sinceMs: 5, selector: "app=pg" };
  const given = { shutBudgets: [budget], budgetPods: new Map([["db/pg", ["pg-0"]]]) };
  const pod = (changes: object): World["pods"] => [
    ...doorPods,
    readyPod("pg-0", { namespace: "db", node: "k8s-master", ...changes }),
  ];
  expect(reasonsOf({ pods: pod({}) }, given)).toMatchObject([
    { code: "DisruptionBudget", object: "PodDisruptionBudget/db/pg", sinceMs: 5 },
  ]);
  expect(codesOf({ pods: pod({ node: "k8s-node1" }) }, given)).toEqual([]);
  expect(codesOf({ pods: pod({ owner: "DaemonSet/x" }) }, given)).toEqual([]);
  expect(codesOf({ pods: pod({ phase: "Succeeded" }) }, given)).toEqual([]);
  // Nobody has asked yet which pods it covers.
  expect(codesOf({ pods: pod({ node: "k8s-node1" }) }, { ...given, budgetPods: new Map() })).toEqual([
    "DisruptionBudget",
  ]);
});

test("OtherNodeNotReady and OtherNodeCordoned: another node; not the node itself", () => {
  expect(reasonsOf({ nodes: nodesWith("k8s-node2", { isReady: false, readyChangedMs: 7 }) })).toMatchObject([
    { code: "OtherNodeNotReady", object: "Node/k8s-node2", sinceMs: 7 },
  ]);
  expect(reasonsOf({ nodes: nodesWith("k8s-node1", { isCordoned: true, cordonedMs: 9 }) })).toMatchObject([
    { code: "OtherNodeCordoned", object: "Node/k8s-node1", sinceMs: 9 },
  ]);
  expect(codesOf({ nodes: nodesWith("k8s-master", { isReady: false, isCordoned: true }) })).toEqual([]);
});

test("OtherNodeRebooted: less than five minutes ago; not longer ago, and not the node itself", () => {
  const rebooted = (node: string, agoMs: number): Partial<GateWorld> => ({
    rebootedMs: new Map([[node, gateNowMs - agoMs]]),
  });
  expect(codesOf({}, rebooted("k8s-node1", 299_999))).toEqual(["OtherNodeRebooted"]);
  expect(codesOf({}, rebooted("k8s-node1", 300_000))).toEqual([]);
  expect(codesOf({}, rebooted("k8s-master", 1_000))).toEqual([]);
});

test("ControlPlaneQuorum: two of three would not be left; not with three, nor for the only one, nor for a worker", () => {
  const planes = (...ready: readonly boolean[]): Partial<World> => ({
    nodes: ready.map((isReady, index) => ({
      ...gateNodes[index]!,
      isReady,
      isControlPlane: true as const,
      isCordoned: undefined as never,
    })),
  });
  expect(codesOf(planes(true, true, true))).toEqual([]);
  expect(codesOf(planes(true, true, false))).toEqual(["ControlPlaneQuorum", "OtherNodeNotReady"]);
  expect(codesOf(planes(true, true))).toEqual(["ControlPlaneQuorum"]);
  expect(codesOf(planes(true))).toEqual([]);
  const worker = gateNodes.map((node) => ({ ...node, isControlPlane: true as const }));
  expect(
    reasonsToDeny({ ...master!, name: "worker" }, someGateFacts({ nodes: worker })).map(({ code }) => code),
  ).toEqual(["NodeUnheard"]);
});

test("ControlPlaneQuorum: a member of etcd that is not ready counts as lost", () => {
  const etcd = (isReady: boolean): World["pods"] => [
    ...doorPods,
    ...gateNodes.map(({ name }) =>
      readyPod(`etcd-${name}`, {
        namespace: "kube-system",
        node: name,
        isMirror: true,
        isReady: name === "k8s-node1" ? isReady : true,
      }),
    ),
  ];
  expect(codesOf({ pods: etcd(true) })).toEqual([]);
  expect(reasonsOf({ pods: etcd(false) })).toMatchObject([{ code: "ControlPlaneQuorum", object: "Etcd" }]);
});

test("OutsideWindow: while the window is closed; not while it is open", () => {
  const window = (text: string): Partial<GateWorld> => ({
    settings: { ...defaultGateSettings, window: parseRebootWindow(text) as RebootWindow }, // a valid one
  });
  // 30 May 2026 is a Saturday.
  expect(codesOf({}, window("Mon-Fri 02:00-05:00"))).toEqual(["OutsideWindow"]);
  expect(codesOf({}, window("Sat 02:00-05:00"))).toEqual([]);
});

test("NodeUnheard: the node's daemon is silent, or its hand has not looked; not for a fresh answer", () => {
  const views = (changes: object): Partial<World> => ({ nodeViews: [{ ...markedView, ...changes }] });
  expect(codesOf({ nodeViews: [] })).toEqual(["NodeUnheard"]);
  expect(codesOf(views({ atMs: gateNowMs - 150_001 }))).toEqual(["NodeUnheard"]);
  expect(codesOf(views({ isRebootRequired: undefined }))).toEqual(["NodeUnheard"]);
  expect(codesOf(views({ atMs: gateNowMs - 150_000 }))).toEqual([]);
});
