import { gateLabel } from "../../../base/annotations.ts";
import type { ClusterPod } from "../../facts/cluster-pod.ts";

/** Per look; a change of verdict touches two pods of one node. */
const changesPerLookMax = 40;

/** A pod whose label says something else than its node's gate. */
export interface DoorChange {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  readonly node: string;
  readonly to: "allow" | "deny";
}

/**
 * The labels to change so that kured's `--blocking-pod-selector levee.dev/reboot=deny` sees the verdicts. Pods of the
 * daemon and of the hand are born with `deny`, so a dead writer blocks; `allow` is written to both pods of a node. A pod
 * that has lost its label gets `deny`. What closes goes first. Pods in other namespaces may carry the label to hold a node,
 * and are left alone.
 */
export function labelChanges(
  pods: Iterable<ClusterPod>,
  allowed: ReadonlySet<string>,
  namespaces: readonly string[],
): readonly DoorChange[] {
  const closes: DoorChange[] = [];
  const opens: DoorChange[] = [];
  for (const { door, namespace, name, uid, node, owner, isDeleting } of pods) {
    if (door === undefined || isDeleting || !namespaces.includes(namespace) || !owner.startsWith("DaemonSet/"))
      continue;
    const to = allowed.has(node) ? "allow" : "deny";
    if (isWrong(door, to)) (to === "deny" ? closes : opens).push({ namespace, name, uid, node, to });
  }
  return [...closes, ...opens].slice(0, changesPerLookMax);
}

/** A pod that has lost its label blocks nothing anyhow, so it needs no `allow`. */
function isWrong(door: string, to: "allow" | "deny"): boolean {
  return door !== to && !(door === "" && to === "allow");
}

export function labelPatch({ uid, to }: DoorChange): string {
  return JSON.stringify({ metadata: { uid, labels: { [gateLabel]: to } } });
}
