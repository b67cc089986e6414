import type { AlertFacts } from "../facts/world.ts";
import { membersOf, type Cause } from "./cause.ts";
import { isSymptom } from "./cause-rules.ts";
import type { Symptom } from "./symptoms.ts";

/** Links alerts to things by the alert's name and by labels that name the object. A name alone links nothing. */
export interface AlertRule {
  readonly name: string;
  readonly why: string;
  readonly alerts: RegExp;
  readonly tellsOf: (alert: AlertFacts, thing: Cause | Symptom) => boolean;
}

const memberNames = new WeakMap<Cause, ReadonlySet<string>>();

/** Cached: thousands of alerts may each name one of thousands of members. */
function namesOf(cause: Cause): ReadonlySet<string> {
  const known = memberNames.get(cause);
  if (known !== undefined) return known;
  const names = new Set(membersOf(cause).map(({ namespace, name }) => `${namespace}/${name}`));
  memberNames.set(cause, names);
  return names;
}

/** kube-state-metrics calls a Job `job_name`, because `job` is Prometheus' own. */
function ownerLabel(labels: AlertFacts["labels"], kind: string): string | undefined {
  return kind === "Job" ? labels["job_name"] : labels[kind.toLowerCase()];
}

const podAlerts = /^(?:KubePodNotReady|KubeContainerWaiting)$/;

export const alertRules: readonly AlertRule[] = [
  {
    name: "AlertOfNamespace",
    why: "the alert names the namespace of the backlog",
    alerts: /^(?:NamespacePendingPodBacklog|OwnerlessPods|OwnerlessPodsGrowing)$/,
    tellsOf: ({ name, labels }, thing) =>
      !isSymptom(thing) &&
      labels["namespace"] === thing.namespace &&
      (thing.cause === "OwnerlessPodAvalanche" ||
        (thing.cause === "RunawayWorkload" && name === "NamespacePendingPodBacklog")),
  },
  {
    name: "AlertOfOwner",
    why: "the alert names the workload that runs away",
    alerts: /^Kube(?:Job|Deployment|ReplicaSet|StatefulSet|Hpa)\w+$/,
    tellsOf: ({ labels }, thing) =>
      !isSymptom(thing) &&
      thing.cause === "RunawayWorkload" &&
      labels["namespace"] === thing.namespace &&
      [thing.owner, ...thing.jobs.map(({ owner }) => owner)].some(
        ({ kind, name }) => ownerLabel(labels, kind) === name,
      ),
  },
  {
    name: "AlertOfReservedNames",
    why: "the alert names a node whose runtime keeps the names",
    alerts: /^StaleSandboxReservations$/,
    tellsOf: ({ labels }, thing) =>
      !isSymptom(thing) && thing.cause === "ReservedSandboxNames" && thing.nodes.has(labels["node"] ?? ""),
  },
  {
    name: "AlertOfReboot",
    why: "the alert names a node that waits for its reboot",
    alerts: /^(?:KuredRebootBacklog|RebootRequired|LeveeGateMismatch)$/,
    tellsOf: ({ labels }, thing) =>
      !isSymptom(thing) && thing.cause === "RebootBacklog" && thing.nodes.has(labels["node"] ?? ""),
  },
  {
    name: "AlertOfMember",
    why: "the alert names a pod of the backlog",
    alerts: podAlerts,
    tellsOf: ({ labels }, thing) =>
      !isSymptom(thing) && namesOf(thing).has(`${labels["namespace"] ?? ""}/${labels["pod"] ?? ""}`),
  },
  {
    name: "AlertOfCniDaemon",
    why: "the alert names the killed CNI daemon",
    alerts: /^(?:MultusMemoryPressure|MultusOOMLoop|KubePodCrashLooping|KubeDaemonSet\w+|KubePodNotReady)$/,
    tellsOf: ({ labels }, thing) =>
      isSymptom(thing) &&
      thing.kind === "CniDaemonKilled" &&
      labels["namespace"] === thing.daemon.namespace &&
      (labels["pod"] === thing.daemon.name || `${labels["namespace"]}/${labels["daemonset"]}` === thing.daemonSet),
  },
  {
    name: "AlertOfCniDaemons",
    why: "the alert is about CNI daemons killed all over the cluster",
    alerts: /^MultusOOMLoop$/,
    tellsOf: ({ labels }, thing) =>
      isSymptom(thing) && thing.kind === "CniDaemonKilled" && labels["scope"] === "cluster",
  },
  {
    name: "AlertOfNode",
    why: "the alert names a node where sandboxes cannot be created",
    alerts: /^(?:CniAddErrorRate|StaleSandboxReservations)$/,
    tellsOf: ({ labels }, thing) => isSymptom(thing) && thing.kind === "SandboxesFail" && labels["node"] === thing.node,
  },
  {
    name: "AlertOfStuckPod",
    why: "the alert names a stuck pod of the workload",
    alerts: podAlerts,
    tellsOf: ({ labels }, thing) =>
      isSymptom(thing) &&
      thing.kind === "WorkloadStuck" &&
      thing.workload.pods.some(({ namespace, name }) => namespace === labels["namespace"] && name === labels["pod"]),
  },
  {
    name: "AlertOfWorkload",
    why: "the alert names the workload",
    alerts: /^Kube(?:Deployment|StatefulSet|DaemonSet)\w+$/,
    tellsOf: ({ labels }, thing) =>
      isSymptom(thing) &&
      thing.kind === "WorkloadStuck" &&
      labels["namespace"] === thing.workload.namespace &&
      labels[thing.workload.kind.toLowerCase()] === thing.workload.name,
  },
  {
    name: "AlertOfApplications",
    why: "the alert is about Unknown Applications",
    alerts: /^Argo\w*Unknown\w*$/i,
    tellsOf: (_alert, thing) => isSymptom(thing) && thing.kind === "ApplicationsUnknown",
  },
];
