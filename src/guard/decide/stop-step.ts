import type { Avalanche } from "../detect/avalanche.ts";
import type { World } from "../facts/world.ts";
import { kubectl } from "./kubectl-lines.ts";
import type { StepDraft } from "./step-draft.ts";

/** The ownerless-pod policy (`deploy/policies/ownerless-pods.yaml`) denies where a namespace has this. */
export const stopLabel = { key: "levee.dev/ownerless-pods", value: "deny" };
/** The one quota that the guard's account may set. */
export const stopQuota = "levee-ownerless-pods";
/** Room for a rollout of what else runs in the namespace. */
const headroomShare = 0.2;
const headroomMin = 10;
const checkSeconds = 60;

/** Keeps new members out: by the policy's label, or by a quota where the policy is not installed. */
export function stopStep(avalanche: Avalanche, world: World): StepDraft {
  return world.isOwnerPolicyInstalled ? labelStep(avalanche.namespace) : quotaStep(avalanche, world);
}

export function isSourceStopped(namespace: string, { namespaces, isOwnerPolicyInstalled }: World): boolean {
  const labels = namespaces.find(({ name }) => name === namespace)?.labels ?? {};
  return isOwnerPolicyInstalled && labels[stopLabel.key] === stopLabel.value;
}

function labelStep(namespace: string): StepDraft {
  const { key, value } = stopLabel;
  return ({ id }) => ({
    id,
    action: "StopSource",
    title: `Refuse new pods without an owner in ${namespace}, by the label ${key}=${value}`,
    kubectl: [kubectl("label", "--overwrite", "namespace", namespace, `${key}=${value}`)],
    preconditions: ["The policy of ownerless pods and the binding that denies are installed as shipped"],
    check: {
      what: `${namespace} has the label, and the policy and its binding are as shipped`,
      deadlineSeconds: checkSeconds,
    },
    stopSource: { way: "Label", namespace, key, value },
  });
}

function quotaStep(avalanche: Avalanche, world: World): StepDraft {
  const { namespace } = avalanche;
  const pods = quotaPods(avalanche, world);
  const create = kubectl("-n", namespace, "create", "quota", stopQuota, `--hard=pods=${pods}`);
  return ({ id }) => ({
    id,
    action: "StopSource",
    title: `Allow at most ${pods} pods in ${namespace}: those beside the avalanche, and some room`,
    kubectl: [create, kubectl("-n", namespace, "describe", "quota", stopQuota)],
    preconditions: ["The policy of ownerless pods is not installed"],
    check: { what: `The quota's status shows ${pods} as its hard limit`, deadlineSeconds: checkSeconds },
    stopSource: { way: "Quota", namespace, quota: stopQuota, pods },
  });
}

/**
 * The other pods of the namespace and some headroom. Never as many as there are now: each pod that is removed could be
 * made again, and the namespace's own workloads would find no room.
 */
export function quotaPods({ namespace, members }: Avalanche, { pods }: World): number {
  let live = 0;
  for (const pod of pods) {
    if (pod.namespace === namespace && pod.phase !== "Succeeded" && pod.phase !== "Failed") live += 1;
  }
  const others = live - members.length;
  const headroom = Math.max(headroomMin, Math.ceil(others * headroomShare));
  return others + Math.min(headroom, Math.floor(members.length / 2));
}
