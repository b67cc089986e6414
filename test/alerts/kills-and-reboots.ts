import { barely } from "./a-cluster.ts";
import type { Scenario } from "./replay.ts";
import { series, type Series } from "./series.ts";

const gatePod = { namespace: "kured", pod: "kured-sentinel-gate-m" };
const gate = { ...gatePod, container: "gate" };

/** Processes and reboots: what looks well from the outside. */
export const killsAndReboots: readonly Scenario[] = [
  {
    name: "a reboot gate whose children are killed, more and more often, and which never restarts",
    minutes: 6 * 60,
    series: [...barely(), ...gateSeries(killsSoFar, () => 1)],
    fires: [
      { alert: "ContainerOOMKilledChildren", severity: "warning", of: { ...gatePod, source: "cadvisor" }, from: 161 },
    ],
  },
  {
    name: "the same with a clean exit every hour",
    minutes: 6 * 60,
    series: [
      ...barely(),
      // Each container counts from zero, under a cgroup of its own.
      ...Array.from({ length: 9 }, (_, hour) =>
        series("container_oom_events_total", { ...gate, id: `/kubepods/gate-${hour}` }, (minute) =>
          Math.floor(minute / 60) === hour ? killsSoFar(minute) - killsSoFar(hour * 60) : undefined,
        ),
      ),
      ...restarts((minute) => 1 + Math.floor(minute / 60), "Completed"),
    ],
    fires: [
      { alert: "ContainerOOMKilledChildren", severity: "warning", of: { ...gatePod, source: "cadvisor" }, from: 161 },
    ],
  },
  {
    name: "the same, told by the daemon alone from the pod's cgroup",
    minutes: 4 * 60,
    series: [
      ...barely(),
      series("levee_pod_oom_kills_total", { ...gatePod, node: "server" }, (minute) => killsSoFar(minute)),
      ...restarts((minute) => 1 + Math.floor(minute / 60), "Completed"),
    ],
    fires: [
      { alert: "ContainerOOMKilledChildren", severity: "warning", of: { ...gatePod, source: "levee" }, from: 161 },
    ],
  },
  {
    name: "a node that kured knows of and does not reboot, with a gap of ten minutes in what it tells",
    minutes: 25 * 60 + 20,
    every: 5,
    series: [
      ...barely(),
      series("kured_reboot_required", { node: "server", pod: "kured-a" }, (minute) =>
        minute >= 600 && minute < 610 ? undefined : Number(minute >= 60),
      ),
    ],
    fires: [{ alert: "KuredRebootBacklog", severity: "warning", of: { node: "server", source: "kured" }, from: 1500 }],
  },
  {
    name: "a node that a closed gate hides from kured",
    minutes: 25 * 60 + 20,
    every: 5,
    series: [
      ...barely(),
      series("kured_reboot_required", { node: "server", pod: "kured-a" }, 0),
      series("levee_node_reboot_required", { node: "server" }, (minute) => Number(minute >= 60)),
      series("levee_node_reboot_required_since_timestamp_seconds", { node: "server" }, (minute) =>
        minute >= 60 ? 3600 : undefined,
      ),
    ],
    fires: [{ alert: "KuredRebootBacklog", severity: "warning", of: { node: "server", source: "node" }, from: 1515 }],
  },
];

/** None for an hour, then one every 96 minutes, then one every four. */
function killsSoFar(minute: number): number {
  const slow = Math.max(0, Math.floor((Math.min(minute, 5 * 60) - 60) / 96));
  return slow + Math.max(0, Math.floor((minute - 5 * 60) / 4));
}

function gateSeries(kills: Series["at"], count: (minute: number) => number): readonly Series[] {
  return [
    series("container_oom_events_total", { ...gate, id: "/kubepods/gate" }, kills),
    ...restarts(count, "Completed"),
  ];
}

function restarts(count: (minute: number) => number, reason: string): readonly Series[] {
  return [
    series("kube_pod_container_status_restarts_total", gate, count),
    series("kube_pod_container_status_last_terminated_reason", { ...gate, reason }, 1),
  ];
}

/** The alerts on restarts are for this, not ours on children. */
export const wholeContainer: Scenario = {
  name: "an ordinary container that is killed as a whole, twice an hour",
  minutes: 180,
  series: [
    ...barely(),
    series("container_oom_events_total", { ...gate, id: "/kubepods/app" }, (minute) => Math.floor(minute / 30)),
    ...restarts((minute) => Math.floor(minute / 30), "OOMKilled"),
  ],
  fires: [],
};
