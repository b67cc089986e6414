import { argoApps, calm, kubelet, multus, multusPod, nodes, pods, type Node } from "./a-cluster.ts";
import type { Firing, Scenario } from "./replay.ts";
import { series, type Series } from "./series.ts";

/** The outages that the alerts are for, as they happened and in the forms that the first rules missed. */
export function outages(): readonly Scenario[] {
  return [avalanche(), plateau(), slowLeak(), badImage(), swing()];
}

const desktop = { namespace: "fc-desktop", owner: "", prefix: "rd-browser-only" };

/** First death of each daemon and the minutes between two: 276, 412 and 261 kills in 21 hours. */
const loops: Readonly<Record<Node, { readonly first: number; readonly every: number }>> = {
  server: { first: 46, every: 5 },
  agent1: { first: 41, every: 3 },
  agent2: { first: 48, every: 5 },
};

const here = { namespace: desktop.namespace };

function onNode(alert: string, severity: Firing["severity"], node: Node, from: number): Firing {
  return { alert, severity, of: { namespace: "kube-system", pod: multusPod(node) }, from };
}

function killedOn(node: Node, from: number): Firing {
  const { of, ...firing } = onNode("MultusOOMLoop", "critical", node, from);
  return { ...firing, of: { ...of, node, scope: "node" } };
}

/** Two of the three nodes. */
function killedAllOver(from: number): Firing {
  return { alert: "MultusOOMLoop", severity: "critical", of: { scope: "cluster" }, from };
}

function failing(node: Node, from: number): Firing {
  return { alert: "CniAddErrorRate", severity: "critical", of: { node, source: "kubelet" }, from };
}

function looping(node: Node, usedMiB: (minute: number) => number, offset = 0): readonly Series[] {
  const { first, every } = loops[node];
  const killed = (minute: number): boolean => minute >= first - offset && (minute - first + offset) % every === 0;
  return multus({ node, limitMiB: 50, usedMiB, killed });
}

function avalanche(): Scenario {
  return {
    name: "219 ownerless pods within an hour, and the daemons of three nodes in a crash loop",
    minutes: 120,
    series: [
      ...pods(219, desktop, (index) => ({ bound: Math.floor((index * 60) / 219) })),
      ...nodes.flatMap((node) => looping(node, (minute) => Math.min(24 + 0.6 * minute, 49))),
      ...nodes.flatMap((node) => kubelet(node, (minute) => ({ asked: 12, failed: minute < 41 ? 0 : 11 }))),
      ...argoApps(20, (minute) => (minute < 55 ? 0 : 20)),
    ],
    // The first daemon dies in minute 41: half an hour after the first warning.
    fires: [
      { alert: "OwnerlessPodsGrowing", severity: "warning", of: here, from: 10, to: 115 },
      { alert: "NamespacePendingPodBacklog", severity: "warning", of: here, from: 22 },
      { alert: "OwnerlessPods", severity: "warning", of: here, from: 28 },
      ...nodes.map((node) => onNode("MultusMemoryPressure", "warning", node, 32)),
      { alert: "NamespacePendingPodBacklog", severity: "critical", of: here, from: 38 },
      killedOn("agent1", 44),
      ...nodes.map((node) => failing(node, 47)),
      killedOn("server", 51),
      killedAllOver(51),
      killedOn("agent2", 53),
      { alert: "ArgoCDAppsUnknown", severity: "warning", of: {}, from: 65 },
    ],
  };
}
function plateau(): Scenario {
  return {
    name: "219 ownerless pods as they are, history lost",
    minutes: 40,
    series: [
      ...pods(219, desktop, (index) => ({ bound: -600 - index })),
      ...nodes.flatMap((node) => looping(node, () => 49, 41)),
      ...nodes.flatMap((node) => kubelet(node, () => ({ asked: 12, failed: 11 }))),
      ...argoApps(20, () => 20),
    ],
    fires: [
      { alert: "NamespacePendingPodBacklog", severity: "critical", of: here, from: 5 },
      onNode("MultusMemoryPressure", "warning", "server", 5),
      onNode("MultusMemoryPressure", "warning", "agent2", 5),
      onNode("MultusMemoryPressure", "warning", "agent1", 6),
      ...nodes.map((node) => failing(node, 6)),
      killedOn("agent1", 6),
      { alert: "NamespacePendingPodBacklog", severity: "warning", of: here, from: 10 },
      killedOn("server", 10),
      killedAllOver(10),
      { alert: "ArgoCDAppsUnknown", severity: "warning", of: {}, from: 10 },
      killedOn("agent2", 12),
      { alert: "OwnerlessPods", severity: "warning", of: here, from: 15 },
    ],
  };
}
function slowLeak(): Scenario {
  return {
    name: "twelve ownerless pods an hour that run and are never removed",
    minutes: 270,
    series: [...calm(), ...pods(96, desktop, (index) => ({ bound: index * 5, running: index * 5 + 1 }))],
    // 28 pods, then 53.
    fires: [
      { alert: "OwnerlessPodsGrowing", severity: "warning", of: here, from: 135 },
      { alert: "OwnerlessPods", severity: "warning", of: here, from: 260 },
    ],
  };
}
function badImage(): Scenario {
  return {
    name: "300 ownerless pods that have their networks and wait for an image",
    minutes: 60,
    series: [
      ...calm(),
      ...pods(300, desktop, (index) => ({ bound: Math.floor(index / 10), addressed: 1 + index / 10 })),
    ],
    // The alert is right that nothing will ever delete these pods. No network is missing.
    fires: [{ alert: "OwnerlessPods", severity: "warning", of: here, from: 19 }],
  };
}
function swing(): Scenario {
  return {
    name: "a backlog that swings between 95 and 105",
    minutes: 60,
    series: [
      ...calm(),
      ...pods(95, { ...desktop, owner: "ReplicaSet" }, () => ({ bound: -60 })),
      ...pods(10, { ...desktop, owner: "ReplicaSet", prefix: "more" }, () => ({ bound: -60 })).map((each) =>
        series(each.name, each.labels, (minute) => (minute % 6 < 3 ? each.at(minute) : undefined)),
      ),
    ],
    fires: [
      { alert: "NamespacePendingPodBacklog", severity: "critical", of: here, from: 5 },
      { alert: "NamespacePendingPodBacklog", severity: "warning", of: here, from: 10 },
    ],
  };
}
