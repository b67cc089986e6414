import { expect, test } from "bun:test";
import { defaultGuardSettings } from "../facts/guard-settings.ts";
import type { AlertFacts, World } from "../facts/world.ts";
import { minuteMs, nowMs, outagePods, stuckPod, world } from "../world.fixture.ts";
import { findAvalanches, type Avalanche } from "./avalanche.ts";
import { causeChainOf, type CauseChain } from "./cause-chain.ts";

const members = outagePods(219);
const sinceMs = members[0]!.createdMs;

/** The outage: daemons killed on two nodes, Traefik stuck, Argo CD blind. */
const outage: Partial<World> = {
  pods: [
    ...members,
    daemonPod("rke2-agent1", { oomKilledMs: nowMs - minuteMs, restarts: 412 }),
    daemonPod("rke2-agent2", { oomKilledMs: nowMs - minuteMs, restarts: 276 }),
    daemonPod("rke2-agent3", {}),
    owned("traefik-6f9c-abcde", "kube-system", "ReplicaSet/traefik-6f9c"),
    owned("argocd-repo-server-77-x", "argocd", "ReplicaSet/argocd-repo-server-77"),
  ],
  deployments: [
    { namespace: "kube-system", name: "traefik", desired: 2, available: 0 },
    { namespace: "argocd", name: "argocd-repo-server", desired: 1, available: 0 },
  ],
  events: [event("rke2-agent1"), event("rke2-agent9")],
  applications: ["a", "b", "c"].map((name) => ({
    namespace: "argocd",
    name,
    project: "default",
    sync: "Unknown",
    comparisonErrorMs: nowMs - 5 * minuteMs,
    isAutomated: true,
    skipsReconcile: false,
    source: { repository: "", path: "", revision: "", isPlain: true },
    owns: [],
  })),
};

function daemonPod(node: string, changes: object): ReturnType<typeof stuckPod> {
  const name = `kube-multus-ds-${node}`;
  return stuckPod(name, {
    namespace: "kube-system",
    owner: "DaemonSet/kube-multus-ds",
    shape: "",
    phase: "Running",
    node,
    everRan: true,
    ...changes,
  });
}

function owned(name: string, namespace: string, owner: string): ReturnType<typeof stuckPod> {
  return stuckPod(name, { namespace, owner, shape: "", boundMs: nowMs - 10 * minuteMs });
}

function event(node: string): World["events"][number] {
  return {
    namespace: "fc-desktop",
    name: "e",
    reason: "FailedCreatePodSandBox",
    node,
    podUid: "",
    count: 30,
    lastMs: nowMs,
  };
}

function alert(name: string, labels: Record<string, string> = {}, startsMs = nowMs - minuteMs): AlertFacts {
  return { name, labels, startsMs };
}

/** Three alerts that fire at the same time for another reason. */
const unrelated = [
  alert("CertificateExpiresSoon", { namespace: "fc-desktop" }),
  alert("KubePodNotReady", { namespace: "shop", pod: "web-1" }),
  alert("NodeFilesystemSpaceFillingUp", { node: "rke2-agent1" }),
];

function chain(facts: Partial<World> = {}, cluster = ""): CauseChain {
  const seen = world({ ...outage, ...facts });
  const [avalanche] = findAvalanches(seen.pods, nowMs);
  return causeChainOf(avalanche as Avalanche, seen, { ...defaultGuardSettings, cluster });
}

test("causeChainOf explains the outage, each edge by its rule", () => {
  const { edges, unlinkedAlerts } = chain({
    alerts: [
      ...members.map(({ name }) => alert("KubePodNotReady", { namespace: "fc-desktop", pod: name })),
      alert("NamespacePendingPodBacklog", { namespace: "fc-desktop" }),
      alert("MultusOOMLoop", { namespace: "kube-system", pod: "kube-multus-ds-rke2-agent1" }),
      alert("CniAddErrorRate", { node: "rke2-agent1" }),
      alert("KubeDeploymentReplicasMismatch", { namespace: "kube-system", deployment: "traefik" }),
      alert("ArgoMostAppsUnknown"),
      ...unrelated,
    ],
  });
  const cni = "kube-system/kube-multus-ds on rke2-agent1 is OOM-killed (412 restarts)";
  const avalanche = "219 ownerless pods of one template in fc-desktop do not start";
  const traefik = "Deployment kube-system/traefik has a pod that does not start";
  expect(edges.map(({ cause, rule, effect }) => [cause, rule, effect])).toEqual([
    [avalanche, "BacklogOverloadsCni", cni],
    [avalanche, "BacklogOverloadsCni", cni.replace("agent1", "agent2").replace("412", "276")],
    [cni, "CniDownFailsSandboxes", "sandboxes cannot be created on rke2-agent1 (30 times)"],
    [cni, "CniDownSticksPods", "Deployment argocd/argocd-repo-server has a pod that does not start"],
    [cni, "CniDownSticksPods", traefik],
    [cni, "CniDownCutsArgo", "3 of 3 Argo CD Applications are Unknown"],
    [avalanche, "AlertOfMember", "219 alerts KubePodNotReady"],
    [avalanche, "AlertOfNamespace", "alert NamespacePendingPodBacklog"],
    [cni, "AlertOfCniDaemon", "alert MultusOOMLoop"],
    ["sandboxes cannot be created on rke2-agent1 (30 times)", "AlertOfNode", "alert CniAddErrorRate"],
    [traefik, "AlertOfWorkload", "alert KubeDeploymentReplicasMismatch"],
    ["3 of 3 Argo CD Applications are Unknown", "AlertOfApplications", "alert ArgoMostAppsUnknown"],
  ]);
  expect(edges.every(({ why }) => why !== "")).toBe(true);
  expect(unlinkedAlerts).toEqual(unrelated);
});

test("causeChainOf links the cluster-wide OOM alert to killed daemons, and to nothing without any", () => {
  const loop = alert("MultusOOMLoop", { scope: "cluster" });
  expect(chain({ alerts: [loop] }).edges.at(-1)).toMatchObject({
    rule: "AlertOfCniDaemons",
    effect: "alert MultusOOMLoop",
  });
  expect(chain({ pods: members, alerts: [loop] }).unlinkedAlerts).toEqual([loop]);
});

test("causeChainOf keeps an edge within what the definition allows, however long the names are", () => {
  const node = "n".repeat(253);
  const pods = [
    ...outagePods(30, { node }),
    daemonPod(node, { oomKilledMs: nowMs, namespace: "s".repeat(63), owner: `DaemonSet/${"d".repeat(253)}` }),
  ];
  const cniDaemons = [{ namespace: "s".repeat(63), daemonSet: "d".repeat(253), container: "c" }];
  const seen = world({ pods });
  const { edges } = causeChainOf(findAvalanches(pods, nowMs)[0] as Avalanche, seen, {
    ...defaultGuardSettings,
    cniDaemons,
  });
  expect(edges.map(({ effect }) => effect.length)).toEqual([512]);
});

test("causeChainOf links 2,000 alerts to 5,000 members in a moment", () => {
  const many = outagePods(5_000);
  const alerts = many
    .slice(0, 2_000)
    .map(({ name }) => alert("KubePodNotReady", { namespace: "fc-desktop", pod: name }));
  const startedMs = performance.now();
  expect(chain({ pods: many, alerts }).edges).toMatchObject([{ effect: "2000 alerts KubePodNotReady" }]);
  expect(performance.now() - startedMs).toBeLessThan(1_000);
});

test("causeChainOf reaches Argo CD by its stuck workload when the time of its error is not known", () => {
  const applications = (outage.applications ?? []).map((one) => ({ ...one, comparisonErrorMs: 0 }));
  const edge = chain({ applications }).edges.find(({ effect }) => effect.includes("Applications"));
  expect(edge).toMatchObject({ rule: "StuckArgoLosesGit" });
});

for (const [what, unrelated] of [
  ["of another kind", alert("CertificateExpiresSoon", { namespace: "fc-desktop" })],
  ["of another namespace", alert("NamespacePendingPodBacklog", { namespace: "shop" })],
  ["of a pod that is no member", alert("KubePodNotReady", { namespace: "fc-desktop", pod: "debug" })],
  [
    "of a daemon that was not killed",
    alert("MultusOOMLoop", { namespace: "kube-system", pod: "kube-multus-ds-rke2-agent3" }),
  ],
  [
    "that fired before the first pod was made",
    alert("NamespacePendingPodBacklog", { namespace: "fc-desktop" }, sinceMs - 1),
  ],
  ["of another cluster", alert("NamespacePendingPodBacklog", { namespace: "fc-desktop", cluster: "two" })],
  ["whose name only contains a known one", alert("XNamespacePendingPodBacklog", { namespace: "fc-desktop" })],
] as const) {
  test(`causeChainOf leaves an alert unlinked ${what}`, () => {
    const { edges, unlinkedAlerts } = chain({ alerts: [unrelated] }, "one");
    expect(unlinkedAlerts).toEqual([unrelated]);
    expect(edges.some(({ rule }) => rule.startsWith("Alert"))).toBe(false);
  });
}

test("causeChainOf does not blame the avalanche for a daemon that was killed before it, or on a node without its pods", () => {
  const pods = [
    ...members,
    daemonPod("rke2-agent1", { oomKilledMs: sinceMs - 1 }),
    daemonPod("elsewhere", { oomKilledMs: nowMs }),
    owned("traefik-6f9c-abcde", "kube-system", "ReplicaSet/traefik-6f9c"),
  ];
  expect(chain({ pods }).edges).toEqual([]);
});

test("causeChainOf does not take a few Unknown Applications for the outage", () => {
  const [first, ...others] = outage.applications ?? [];
  const applications = [first!, ...others.map((one) => ({ ...one, sync: "Synced" }))];
  expect(chain({ applications }).edges.some(({ effect }) => effect.includes("Applications"))).toBe(false);
});

test("causeChainOf stays within a Decision's limit and counts what is left out", () => {
  const pods = [
    ...members,
    daemonPod("rke2-agent1", { oomKilledMs: nowMs }),
    ...Array.from({ length: 100 }, (_, index) => owned(`p-${index}`, "shop", `StatefulSet/s-${index}`)),
  ];
  const { edges, omitted } = chain({ pods, events: [], applications: [] });
  expect([edges.length, omitted]).toEqual([64, 37]);
});
