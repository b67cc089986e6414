import { kubelet, multus, multusPod, nodes, pods, type Node } from "./a-cluster.ts";
import type { Firing, Scenario } from "./replay.ts";
import { during, series, type Series } from "./series.ts";

/** Daemons that are killed again and again: on one node, everywhere, quickly, slowly; and what only looks like it. */
export const oomLoops: readonly Scenario[] = [
  {
    name: "one looping daemon that is deleted three times is no page for the cluster",
    minutes: 70,
    series: [
      ...quiet("agent1", "agent2"),
      ...["a", "b", "c", "d"].flatMap((pod, index) =>
        during(index * 8, index === 3 ? 70 : index * 8 + 8, looping({ node: "server", pod, every: 3 })),
      ),
    ],
    fires: [
      { ...loop("server", 6, "a"), to: 37 },
      { ...loop("server", 12, "b"), to: 45 },
      { ...loop("server", 21, "c"), to: 53 },
      loop("server", 30, "d"),
    ],
  },
  {
    name: "a looping daemon whose node is removed is no page for the cluster",
    minutes: 80,
    series: [...quiet("agent1", "agent2"), ...during(0, 30, looping({ node: "server", every: 5 }))],
    fires: [{ ...loop("server", 10), to: 59 }],
  },
  {
    name: "daemons that live for 16, 18 and 20 minutes on all nodes",
    minutes: 120,
    series: [
      ...looping({ node: "server", every: 16 }),
      ...looping({ node: "agent1", every: 18 }),
      ...looping({ node: "agent2", every: 20 }),
      ...others(),
    ],
    fires: [loop("server", 48), loop("agent1", 54), allOver(54), loop("agent2", 60)],
  },
  {
    name: "daemons that are killed for memory twice an hour",
    minutes: 180,
    series: [...nodes.flatMap((node) => looping({ node, every: 31 })), ...others()],
    fires: [],
  },
  {
    name: "a daemon that a person restarts twice, and that is then killed for memory once",
    minutes: 150,
    series: [...quiet("agent1", "agent2"), ...restartedTwice()],
    fires: [],
  },
  {
    name: "a loop of the Multus that RKE2 packages, thick and thin",
    minutes: 60,
    series: [
      ...quiet("agent2"),
      ...asRke2("kube-multus", looping({ node: "server", every: 5 })),
      ...asRke2("kube-rke2-multus", looping({ node: "agent1", every: 5 })),
    ],
    fires: [
      { ...loop("server", 10), of: { ...loop("server", 10).of, pod: "rke2-multus-server" } },
      { ...loop("agent1", 10), of: { ...loop("agent1", 10).of, pod: "rke2-multus-agent1" } },
      allOver(10),
    ],
  },
  {
    name: "a loop of which the pods' nodes are no longer told is one alert",
    minutes: 100,
    series: [...looping({ node: "server", every: 5 }), ...quiet("agent1", "agent2")].flatMap((each) =>
      each.name === "kube_pod_info" ? during(0, 20, [each]) : [each],
    ),
    fires: [
      loop("server", 10),
      { alert: "LeveeBlind", severity: "critical", of: { source: "kube-state-metrics" }, from: 25 },
    ],
  },
];

interface Looping {
  readonly node: Node;
  readonly pod?: string;
  /** Minutes of a life. */
  readonly every: number;
}

function looping({ node, pod, every }: Looping): readonly Series[] {
  const name = pod === undefined ? {} : { pod: `kube-multus-ds-${pod}` };
  return multus({
    node,
    ...name,
    limitMiB: 50,
    usedMiB: () => 24,
    killed: (minute) => minute > 0 && minute % every === 0,
  });
}

/** Restarts of which only the last is put down to memory. */
function restartedTwice(): readonly Series[] {
  const labels = { namespace: "kube-system", pod: multusPod("server"), container: "kube-multus" };
  const ended = (reason: string, from: number, until: number): readonly Series[] =>
    during(from, until, [series("kube_pod_container_status_last_terminated_reason", { ...labels, reason }, 1)]);
  return [
    ...multus({ node: "server", limitMiB: 50, usedMiB: () => 24 }).filter(
      ({ name }) => !/restarts_total|last_terminated/u.test(name),
    ),
    series(
      "kube_pod_container_status_restarts_total",
      labels,
      (minute) => [10, 25, 40].filter((at) => minute >= at).length,
    ),
    ...ended("Completed", 10, 40),
    ...ended("OOMKilled", 40, 150),
  ];
}

/** RKE2's own names for pods and container. */
function asRke2(container: string, all: readonly Series[]): readonly Series[] {
  return all.map(({ name, labels, at }) => {
    const pod = (labels["pod"] ?? "").replace("kube-multus-ds-", "rke2-multus-");
    return series(name, { ...labels, pod, ...("container" in labels ? { container } : {}) }, at);
  });
}

function quiet(...well: readonly Node[]): readonly Series[] {
  return [...well.flatMap((node) => multus({ node, limitMiB: 50, usedMiB: () => 24 })), ...others()];
}

function others(): readonly Series[] {
  return [
    ...nodes.flatMap((node) => kubelet(node, () => ({ asked: 1, failed: 0 }))),
    ...pods(3, { namespace: "shop", owner: "ReplicaSet", prefix: "web" }, () => ({ bound: -600, running: -599 })),
  ];
}

function loop(node: Node, from: number, pod: string = node): Firing {
  const of = { namespace: "kube-system", pod: `kube-multus-ds-${pod}`, node, scope: "node" };
  return { alert: "MultusOOMLoop", severity: "critical", of, from };
}

function allOver(from: number): Firing {
  return { alert: "MultusOOMLoop", severity: "critical", of: { scope: "cluster" }, from };
}
