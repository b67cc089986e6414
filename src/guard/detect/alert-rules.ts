import type { AlertFacts } from "../facts/world.ts";
import type { Avalanche } from "./avalanche.ts";
import { isSymptom } from "./cause-rules.ts";
import type { Symptom } from "./symptoms.ts";

/** Links alerts to things by the alert's name and by labels that name the object. A name alone links nothing. */
export interface AlertRule {
  readonly name: string;
  readonly why: string;
  readonly alerts: RegExp;
  readonly tellsOf: (alert: AlertFacts, thing: Avalanche | Symptom) => boolean;
}

const memberNames = new WeakMap<Avalanche, ReadonlySet<string>>();

/** Cached: thousands of alerts may each name one of thousands of members. */
function namesOf(avalanche: Avalanche): ReadonlySet<string> {
  const known = memberNames.get(avalanche);
  if (known !== undefined) return known;
  const names = new Set(avalanche.members.map(({ name }) => name));
  memberNames.set(avalanche, names);
  return names;
}

const podAlerts = /^(?:KubePodNotReady|KubeContainerWaiting)$/;

export const alertRules: readonly AlertRule[] = [
  {
    name: "AlertOfNamespace",
    why: "the alert names the namespace of the avalanche",
    alerts: /^(?:NamespacePendingPodBacklog|OwnerlessPods|OwnerlessPodsGrowing)$/,
    tellsOf: ({ labels }, thing) => !isSymptom(thing) && labels["namespace"] === thing.namespace,
  },
  {
    name: "AlertOfMember",
    why: "the alert names a pod of the avalanche",
    alerts: podAlerts,
    tellsOf: ({ labels }, thing) =>
      !isSymptom(thing) && labels["namespace"] === thing.namespace && namesOf(thing).has(labels["pod"] ?? ""),
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
