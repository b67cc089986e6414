/** The outage of test/alerts/outages.ts on three nodes that run Levee, as daemons, guard and API server tell of it. */
import { nodes, pods, type Node } from "../alerts/a-cluster.ts";
import { outages } from "../alerts/outages.ts";
import { series, type Series } from "../alerts/series.ts";
import { guardSeries } from "./storm-on-the-guard.ts";

export const minutes = 120;
const web = { namespace: "shop", pod: "web-0" };
const mebibyte = 1024 * 1024;

/**
 * 219 ownerless pods arrive within an hour, 73 on each node. agent1 is short of memory: its daemon dies in minutes 50 and
 * 70. agent2 has lost the bridge of one network, so a third of its ADDs fail.
 */
export function stormOnLevee(): readonly Series[] {
  const [avalanche] = outages();
  return [
    ...(avalanche?.series ?? []),
    ...pods(3, { namespace: "shop", owner: "ReplicaSet", prefix: "web" }, () => ({ bound: 2, running: 4 })),
    series("kube_pod_status_ready_time", web, after(4, 4 * 60)),
    series("kube_pod_container_status_restarts_total", { ...web, container: "web" }, 0),
    ...nodes.flatMap(daemonSeries),
    ...guardSeries(),
    series("apiserver_request_total", { instance: "10.0.0.1:6443", code: "429" }, (minute) => minute * 30),
  ];
}

function daemonSeries(node: Node): readonly Series[] {
  const instance = `10.0.0.${nodes.indexOf(node) + 1}:9810`;
  const labels = { namespace: "levee-system", pod: `levee-${node}`, container: "daemon", instance, node };
  const of = (name: string, at: Series["at"] | number, more: Readonly<Record<string, string>> = {}): Series =>
    series(name, { ...labels, ...more }, at);
  return [
    of("levee_build_info", 1, { version: "0.1.0" }),
    of("process_start_time_seconds", (minute) => startedAt(node, minute)),
    of("levee_ready", node === "agent2" ? after(30, 0, 1) : 1),
    of("levee_check_failed", Number(node === "agent2"), { check: "conf", severity: "failed" }),
    ...lineSeries(node, of),
    ...callSeries(node, of),
    ...memorySeries(node, of),
    ...leftSeries(node, of),
    ...viewSeries(of),
  ];
}

type Of = (name: string, at: Series["at"] | number, more?: Readonly<Record<string, string>>) => Series;

function startedAt(node: Node, minute: number): number {
  return node === "agent1" ? ([50, 70].filter((died) => minute >= died).at(-1) ?? 0) : 0;
}

/** Ordinary calls that wait on each node. */
function waiting(minute: number): number {
  return Math.min(73, Math.floor((minute * 73) / 60));
}

function lineSeries(node: Node, of: Of): readonly Series[] {
  const attach = { kind: "attach" };
  return [
    of("levee_waiting", waiting, { ...attach, class: "ordinary" }),
    of("levee_waiting", 0, { ...attach, class: "critical" }),
    of("levee_waiting", 2, { kind: "detach", class: "detach" }),
    of("levee_oldest_wait_seconds", (minute) => minute * 2),
    of("levee_running", 4, attach),
    of("levee_slots", 4, attach),
    of("levee_slots_ceiling", 16, attach),
    of("levee_slow_start", (minute) => Number(minute < 2)),
    of("levee_networks_half_open", Number(node === "agent2")),
    of("levee_hung_delegates", 0),
    of("levee_host_pressure", 1, { level: "high" }),
    of("levee_admissions_total", (minute) => minute * 6, { class: "ordinary", outcome: "expired" }),
    ...histogram("levee_wait_seconds", [0.001, 1, 60], [10, 20, 6000], (name, at, more) =>
      of(name, at, { ...more, class: "ordinary" }),
    ),
  ];
}

function callSeries(node: Node, of: Of): readonly Series[] {
  const isBroken = node === "agent2";
  const bridge = { plugin: "bridge", verb: "ADD" };
  return [
    of("levee_calls_total", (minute) => minute * 60, { verb: "ADD", class: "ordinary", code: "ok" }),
    of("levee_calls_total", (minute) => (isBroken ? minute * 30 : 0), {
      ...{ verb: "ADD", class: "ordinary", code: "delegate-failed" },
    }),
    of("levee_delegate_exits_total", (minute) => (isBroken ? minute * 30 : 0), { ...bridge, exit: "failed" }),
    ...histogram("levee_delegate_seconds", [0.1, 1, 10], [3000, 5800, 6000], (name, at, more) =>
      of(name, at, { ...more, ...bridge }),
    ),
    ...(isBroken
      ? [
          of("levee_network_ready", 0, { network: "fc-desktop/lan" }),
          of("levee_orphan_leases", 3, { network: "fc-desktop/lan" }),
          series("levee_missing_networks", { node, namespace: "fc-desktop" }, 5),
        ]
      : []),
  ];
}

function memorySeries(node: Node, of: Of): readonly Series[] {
  const isShort = node === "agent1";
  const used = (minute: number): number => (isShort ? Math.min(48 + minute, 92) : 48) * mebibyte;
  return [
    of("levee_memory_working_set_bytes", used),
    of("levee_anonymous_memory_bytes", (minute) => used(minute) / 2),
    of("levee_memory_limit_bytes", 96 * mebibyte),
    of("levee_memory_state", Number(isShort), { state: "frozen" }),
    of("levee_memory_oom_kills_total", 0),
    of("levee_delegate_memory_bytes", 40 * mebibyte),
    of("levee_delegate_memory_room_bytes", 96 * mebibyte),
    of("levee_delegate_max_rss_bytes", 9 * mebibyte, { plugin: "bridge" }),
    of("levee_delegate_oom_kills_total", (minute) => (isShort ? Math.floor(minute / 30) : 0)),
    series("levee_pod_oom_kills_total", { node, ...web }, (minute) => Math.floor(minute / 40)),
  ];
}

function leftSeries(node: Node, of: Of): readonly Series[] {
  return [
    of("levee_leaks", node === "agent2" ? after(20, 4, 0) : 0),
    of("levee_offline_deletes", 0),
    of("levee_quarantined", 0),
    of("levee_stale_sandbox_reservations", 0),
    of("levee_journal_unwritten", 0),
    of("levee_node_reboot_required", Number(node === "agent2")),
    of("levee_node_reboot_allowed", 0),
  ];
}

function viewSeries(of: Of): readonly Series[] {
  const pod = { resource: "pods" };
  return [
    of("levee_api_up", (minute) => Number(minute < 80 || minute > 85)),
    of("levee_view_last_event_age_seconds", (minute) => (minute % 2) * 30, pod),
    of("levee_view_lists_total", 1, pod),
    of("levee_view_reconnects_total", (minute) => Math.floor(minute / 60), pod),
    of("levee_status_published_total", (minute) => minute * 60, { outcome: "written" }),
    of("levee_events_total", (minute) => minute * 2, { outcome: "written" }),
    of("levee_outbox_waiting", 0, { kind: "status" }),
  ];
}

/** Cumulative counts per minute below each bound, the last of which holds for +Inf too. */
function histogram(name: string, bounds: readonly number[], perMinute: readonly number[], of: Of): readonly Series[] {
  const all = [...bounds.map(String), "+Inf"];
  return all.map((le, index) =>
    of(`${name}_bucket`, (minute) => minute * (perMinute[index] ?? perMinute.at(-1) ?? 0), { le }),
  );
}

function after(from: number, value: number, before?: number): Series["at"] {
  return (minute) => (minute < from ? before : value);
}
