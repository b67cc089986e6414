import { barely } from "./a-cluster.ts";
import type { Firing, Scenario } from "./replay.ts";
import { series, type Series } from "./series.ts";

const node = "server";
const daemon = { namespace: "levee-system", pod: "levee-abcde", container: "daemon", instance: "10.0.0.1:9810", node };
const mebibyte = 1024 * 1024;
const guardDeployment = series(
  "kube_deployment_spec_replicas",
  { namespace: "levee-system", deployment: "levee-guard" },
  2,
);

/** Metrics of Levee's daemon and guard about themselves, and what their absence means. */
export const ownMetrics: readonly Scenario[] = [
  {
    name: "kube-state-metrics goes with the pod network, in one of two clusters of one Prometheus",
    minutes: 60,
    series: [
      ...inCluster("a", barely()),
      ...inCluster("b", barely()).map((each) =>
        each.name.startsWith("kube_") ? series(each.name, each.labels, until(20, each.at)) : each,
      ),
    ],
    fires: [blind("kube-state-metrics", "critical", { cluster: "b" }, 25)],
  },
  {
    name: "nothing is scraped at all",
    minutes: 20,
    series: [series("up", { job: "nothing" }, 1)],
    fires: [blind("kube-state-metrics", "critical", {}, 5), blind("cadvisor", "warning", {}, 15)],
  },
  {
    name: "Levee's own daemon near its limit, with cAdvisor's word for another one only",
    minutes: 60,
    series: [
      ...barely(),
      series("levee_memory_working_set_bytes", daemon, (minute) => Math.min(40 + minute, 85) * mebibyte),
      series("levee_memory_limit_bytes", daemon, 96 * mebibyte),
    ],
    fires: [fires("MultusMemoryPressure", { namespace: daemon.namespace, pod: daemon.pod }, 42)],
  },
  {
    name: "a network that fails on one node of Levee's",
    minutes: 40,
    series: [
      ...barely(),
      series("levee_calls_total", { ...daemon, verb: "ADD", code: "ok" }, (minute) => minute * 10),
      series("levee_calls_total", { ...daemon, verb: "ADD", code: "delegate_failed" }, (minute) =>
        minute < 10 ? undefined : (minute - 9) * 10,
      ),
    ],
    fires: [{ ...fires("CniAddErrorRate", { node, source: "levee" }, 16), severity: "critical" }],
  },
  {
    name: "leaks of which one stays every two hours, and others that are undone",
    minutes: 300,
    series: [
      ...barely(),
      series("levee_leaks", daemon, (minute) => 1 + Math.floor(minute / 120)),
      series("levee_leaks", { ...daemon, instance: "10.0.0.2:9810", node: "agent1" }, (minute) => minute % 9),
    ],
    fires: [fires("LeveeLeaksGrowing", { node }, 155)],
  },
  {
    name: "a network that loses an address every minute, beside one with a tenth left and one in which addresses come and go",
    minutes: 60,
    series: [
      ...barely(),
      ...addresses("prod/lan", 100, (minute) => Math.max(0, 24 - minute)),
      ...addresses("prod/wan", 10, () => 1),
      ...addresses("prod/dmz", 100, (minute) => (minute % 8 < 4 ? 5 : 50)),
    ],
    fires: [
      fires("NetworkAddressesLow", { node, network: "prod/lan" }, 25),
      { ...fires("NetworkAddressesLow", { node, network: "prod/lan" }, 29), severity: "critical" },
    ],
  },
  {
    name: "a network of whereabouts that loses an address every minute, while the lead goes from one guard to the other",
    minutes: 60,
    series: [
      ...barely(),
      ...guardAddresses(
        "g1",
        until(12, (minute) => 24 - minute),
      ),
      ...guardAddresses("g2", (minute) => (minute < 12 ? undefined : Math.max(0, 24 - minute))),
    ],
    fires: [
      fires("NetworkAddressesLow", { network: "prod/lan" }, 25),
      { ...fires("NetworkAddressesLow", { network: "prod/lan" }, 29), severity: "critical" },
    ],
  },
  {
    name: "names of sandboxes that stay reserved, as the daemon sees it and as the guard does",
    minutes: 40,
    series: [
      ...barely(),
      series("levee_stale_sandbox_reservations", { node }, (minute) => (minute < 5 || minute > 25 ? 0 : 3)),
      series("levee_guard_stale_sandbox_reservations", { node: "agent1" }, (minute) => (minute < 5 ? 0 : 24)),
    ],
    fires: [
      { ...fires("StaleSandboxReservations", { node }, 15), to: 40 },
      fires("StaleSandboxReservations", { node: "agent1" }, 15),
    ],
  },
  {
    name: "a Decision that waits, is approved and stops half way",
    minutes: 60,
    series: [
      ...barely(),
      ...guard(() => 1),
      series("levee_guard_oldest_decision_age_seconds", { phase: "Proposed" }, (minute) =>
        minute < 5 || minute >= 20 ? 0 : (minute - 5) * 60,
      ),
      series("levee_guard_oldest_decision_age_seconds", { phase: "Paused" }, (minute) =>
        minute < 30 ? 0 : (minute - 30) * 60,
      ),
    ],
    fires: [{ ...fires("LeveeDecisionWaiting", {}, 11), to: 24 }, fires("LeveeDecisionPaused", {}, 36)],
  },
  {
    name: "Decisions that have ended and that nobody deletes, told by two replicas",
    minutes: 40,
    series: [
      ...barely(),
      ...guard(() => 1),
      ...["g1", "g2"].flatMap((instance) => [
        series("levee_guard_decisions", { instance, phase: "Expired" }, (minute) => (minute < 10 ? 70 : 100)),
        series("levee_guard_decisions", { instance, phase: "Rejected" }, 50),
        series("levee_guard_decisions", { instance, phase: "Proposed" }, 49),
      ]),
    ],
    fires: [fires("LeveeDecisionsKept", {}, 25)],
  },
  {
    name: "a guard of which no replica leads, and whose watch of pods was silent before",
    minutes: 60,
    series: [
      ...barely(),
      ...guard((minute) => (minute < 30 ? 1 : 0)),
      series("levee_guard_view_last_event_age_seconds", { instance: "g1", resource: "pods" }, (minute) =>
        minute < 10 ? 20 : (minute - 10) * 60,
      ),
      series("levee_guard_view_last_event_age_seconds", { instance: "g1", resource: "nodes" }, 30),
    ],
    fires: [
      blind("guard", "critical", { resource: "pods" }, 16),
      { ...fires("LeveeGuardAbsent", {}, 35), severity: "critical" },
    ],
  },
  {
    name: "two guards that never get to see the Decisions, so that none leads",
    minutes: 20,
    series: [
      ...barely(),
      ...guard(() => 0),
      ...["g1", "g2"].flatMap((instance) => [
        series("levee_guard_view_last_event_age_seconds", { instance, resource: "decisions" }, (minute) => minute * 60),
        series("levee_guard_view_last_event_age_seconds", { instance, resource: "pods" }, 20),
      ]),
    ],
    fires: [
      { ...fires("LeveeGuardAbsent", {}, 5), severity: "critical" },
      blind("guard", "critical", { resource: "decisions" }, 6),
    ],
  },
  {
    name: "a guard whose proposals are refused every ten seconds, and one that was refused once",
    minutes: 40,
    series: [
      ...inCluster("a", barely()),
      ...inCluster("b", barely()),
      ...["a", "b"].map((cluster) => series("levee_guard_leader", { cluster, instance: "g1" }, 1)),
      series("levee_guard_proposals_refused_total", { cluster: "a", instance: "g1" }, (minute) =>
        Math.min(60, Math.max(0, minute - 10) * 6),
      ),
      series("levee_guard_proposals_refused_total", { cluster: "b", instance: "g1" }, (minute) =>
        minute < 10 ? 0 : 1,
      ),
    ],
    fires: [{ ...blind("proposals", "critical", { cluster: "a" }, 11), to: 34 }],
  },
  {
    name: "a cluster whose pods nobody has told of for a day, while its kubelets are scraped",
    minutes: 30,
    series: [
      ...inCluster("a", barely()),
      ...inCluster("b", barely()).filter(({ name }) => !name.startsWith("kube_")),
      series("kubelet_node_name", { cluster: "b", instance: "10.0.0.1:10250", node }, 1),
    ],
    fires: [blind("kube-state-metrics", "critical", { cluster: "b" }, 5)],
  },
  {
    name: "a guard that nobody scrapes, with a kube-state-metrics that knows no namespaces of leases",
    minutes: 30,
    series: [
      ...barely(),
      guardDeployment,
      series("kube_lease_renew_time", { lease: "levee-guard" }, (minute) => minute * 60),
    ],
    fires: [],
  },
  {
    name: "a guard that nobody scrapes, which renews its lease and then no longer does",
    minutes: 60,
    series: [
      ...barely(),
      guardDeployment,
      series(
        "kube_lease_renew_time",
        { namespace: "levee-system", lease: "levee-guard" },
        (minute) => Math.min(minute, 20) * 60,
      ),
    ],
    fires: [{ ...fires("LeveeGuardAbsent", {}, 27), severity: "critical" }],
  },
  {
    name: "a node's daemon without an API server",
    minutes: 30,
    series: [...barely(), series("levee_api_up", daemon, (minute) => (minute < 5 ? 1 : 0))],
    fires: [blind("daemon", "warning", { node }, 15)],
  },
  {
    name: "a node's daemon whose watch of pods is silent, and one whose is not",
    minutes: 40,
    series: [
      ...barely(),
      series("levee_api_up", daemon, 1),
      series("levee_view_last_event_age_seconds", { ...daemon, resource: "pods" }, (minute) => minute * 60),
      series("levee_view_last_event_age_seconds", { ...daemon, resource: "networks" }, 30),
      series("levee_view_last_event_age_seconds", { node: "agent1", resource: "pods" }, (minute) => (minute % 10) * 60),
    ],
    fires: [blind("daemon", "warning", { node }, 26)],
  },
];

function fires(alert: string, of: Firing["of"], from: number): Firing {
  return { alert, severity: "warning", of, from };
}

function blind(source: string, severity: Firing["severity"], of: Firing["of"], from: number): Firing {
  return { alert: "LeveeBlind", severity, of: { ...of, source }, from };
}

/** Two replicas; the first leads as told. */
function guard(leads: (minute: number) => number): readonly Series[] {
  return [
    series("levee_guard_leader", { instance: "g1" }, leads),
    series("levee_guard_leader", { instance: "g2" }, 0),
    guardDeployment,
  ];
}

function inCluster(cluster: string, all: readonly Series[]): readonly Series[] {
  return all.map(({ name, labels, at }) => series(name, { ...labels, cluster }, at));
}

function until(end: number, at: Series["at"]): Series["at"] {
  return (minute) => (minute < end ? at(minute) : undefined);
}

function addresses(network: string, total: number, left: Series["at"]): readonly Series[] {
  return [
    series("levee_network_addresses", { ...daemon, network }, total),
    series("levee_network_addresses_left", { ...daemon, network }, left),
  ];
}

/** Only the guard that leads counts. */
function guardAddresses(instance: string, left: Series["at"]): readonly Series[] {
  const labels = { instance, network: "prod/lan" };
  const total: Series["at"] = (minute) => (left(minute) === undefined ? undefined : 100);
  return [
    series("levee_guard_network_addresses", labels, total),
    series("levee_guard_network_addresses_left", labels, left),
  ];
}
