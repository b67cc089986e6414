import type { AskedItem } from "../../decision/asked-item.ts";
import { scalableKinds, type ScalableKind } from "../../decision/scale-owner.ts";
import { isLive, type Runaway } from "../../detect/runaway.ts";
import { topOwnerOf, type TopOwner } from "../../detect/top-owner.ts";
import { criticalLabel, isNamedCritical } from "../../facts/critical-label.ts";
import type { GuardSettings } from "../../facts/guard-settings.ts";
import type { World } from "../../facts/world.ts";
import { timeText } from "../../json-values.ts";
import { kubectl, kueueStopLine } from "../kubectl-lines.ts";

/** A name of the API server; owner references can hold anything. */
const plainName = /^[A-Za-z0-9][-.\w]*$/;
const systemNamespace = "kube-system";

/**
 * Why a person has to make this workload smaller: who would put it back, or what the guard does not change. Undefined when
 * the guard can do it.
 */
export function handReason(
  { owner, sinceMs }: Pick<Runaway, "owner" | "sinceMs">,
  world: World,
  settings: GuardSettings,
): AskedItem | undefined {
  const { kind, namespace, name, marks } = owner;
  const item = (object: string, what: string, line: string): AskedItem => ({
    object,
    node: "",
    uid: "",
    what,
    since: timeText(sinceMs),
    line,
  });
  const label = `${kind} ${namespace}/${name}`;
  // A CronJob leaves the Jobs alone that it has made.
  if (marks.above !== "" && !(kind === "Job" && marks.above.startsWith("CronJob/")))
    return item(marks.above, `${marks.above} made ${label} and would put it back`, lookLine(namespace, marks.above));
  if (owner.queue !== undefined)
    return item(
      `LocalQueue/${namespace}/${owner.queue}`,
      `Kueue decides when ${label} runs (queue ${owner.queue}): it resumes a Job that somebody suspends, and ends all pods of one whose size changes. Take its Workload out of the queue; active=true puts it back`,
      kueueStopLine(namespace, [owner.uid]),
    );
  const scaler = world.owners?.autoscalers.find(
    (one) => one.namespace === namespace && one.target === `${kind}/${name}`,
  );
  if (scaler !== undefined)
    return item(
      `HorizontalPodAutoscaler/${namespace}/${scaler.name}`,
      `the HorizontalPodAutoscaler ${scaler.name} sets the size of ${label} and would put it back`,
      kubectl("-n", namespace, "edit", "hpa", scaler.name),
    );
  if (kind === "Deployment" && isMidRollout(owner, world))
    return item(
      `${kind}/${namespace}/${name}`,
      `${label} is in the middle of a rollout: its controller would end pods of the old version too, which run`,
      kubectl("-n", namespace, "rollout", "undo", `deployment/${name}`),
    );
  const why = untouched(owner, world, settings);
  return why === undefined
    ? undefined
    : item(`${kind}/${namespace}/${name}`, `${label}: ${why}`, lookLine(namespace, `${kind}/${name}`));
}

/** A Deployment with two ReplicaSets takes pods from both by their share, whether they run or not. */
function isMidRollout({ namespace, name }: TopOwner, world: World): boolean {
  const sets = new Set<string>();
  let hasStarted = false;
  for (const pod of world.pods) {
    if (pod.namespace !== namespace || !pod.owner.startsWith("ReplicaSet/") || !isLive(pod)) continue;
    const owner = topOwnerOf(pod, world);
    if (owner.kind !== "Deployment" || owner.name !== name) continue;
    sets.add(pod.owner);
    hasStarted ||= pod.everRan;
  }
  return sets.size > 1 && hasStarted;
}

function untouched({ kind, namespace, uid }: TopOwner, world: World, settings: GuardSettings): string | undefined {
  if (namespace === systemNamespace || namespace === settings.namespace)
    return "the guard makes nothing smaller in a namespace of the system";
  if (isNamedCritical(namespace, world.namespaces))
    return `the site depends on ${namespace} (label ${criticalLabel}), and the guard makes nothing smaller there`;
  if (kind === "StatefulSet")
    return "its pods end in the order of their numbers, and those that run could be the first";
  if (scalableKind(kind) === undefined) return "the guard does not know how this kind is made smaller";
  return uid === "" ? "the guard cannot see it" : undefined;
}

export function scalableKind(kind: string): ScalableKind | undefined {
  return scalableKinds.find((one) => one === kind);
}

function lookLine(namespace: string, object: string): string {
  const [kind = "", name = ""] = object.split("/");
  if (![kind, name].every((text) => plainName.test(text))) return kubectl("-n", namespace, "get", "pods", "-o", "wide");
  return kubectl("-n", namespace, "edit", kind.toLowerCase(), name);
}
