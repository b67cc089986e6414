import type { StopSource } from "../decision/step.ts";
import type { Avalanche } from "../detect/avalanche.ts";
import type { World } from "../facts/world.ts";
import { kubectl } from "./kubectl-lines.ts";
import type { StepDraft } from "./step-draft.ts";

/** The label that makes the ownerless-pod policy (`deploy/policies/ownerless-pods.yaml`) deny in a namespace. */
export const stopLabel = { key: "levee.dev/ownerless-pods", value: "deny" };
/** The only quota that the guard's account may set. */
export const stopQuota = "levee-ownerless-pods";
/** Room for rollouts of the namespace's other workloads. */
const headroomShare = 0.2;
const headroomMin = 10;
/** Setting the label, then half a minute without new pods. */
const checkSeconds = 120;
/** A label takes effect in every API server some seconds after it was set. */
const labelCountsMs = 60_000;
/** One or two may come from a person: the policy does not apply to people. */
const cameAnywayMin = 3;

/**
 * How to stop the source; undefined when it is already stopped. The policy's label comes first. A quota is for clusters
 * without the policy, and for sources that the policy does not cover: the label is set and members still come.
 */
export function stopWay(avalanche: Avalanche, world: World): StopSource["way"] | undefined {
  if (!world.isOwnerPolicyInstalled) return "Quota";
  const namespace = world.namespaces.find(({ name }) => name === avalanche.namespace);
  if (namespace?.labels[stopLabel.key] !== stopLabel.value) return "Label";
  return cameAnyway(avalanche, world) >= cameAnywayMin ? "Quota" : undefined;
}

/** Members created although the namespace refuses them. */
export function cameAnyway({ namespace, members }: Avalanche, { namespaces, isOwnerPolicyInstalled }: World): number {
  const labelledMs = namespaces.find(({ name }) => name === namespace)?.labelledMs ?? 0;
  if (!isOwnerPolicyInstalled || labelledMs === 0) return 0;
  return members.filter(({ createdMs }) => createdMs > labelledMs + labelCountsMs).length;
}

export function stopStep(way: StopSource["way"], avalanche: Avalanche, world: World): StepDraft {
  return way === "Label" ? labelStep(avalanche.namespace) : quotaStep(avalanche, world);
}

/** What a person should know before the stop, and the line that takes it back. */
export function stopNotes(way: StopSource["way"], namespace: string): readonly string[] {
  return way === "Label"
    ? [
        "Existing pods are not touched, and pods with an owner are not refused",
        "The policy demands owners only from service accounts outside of kube-system; pods that a person creates are not refused",
        `To undo it when the source is repaired: ${undoLine(way, namespace)}`,
      ]
    : [
        "Existing pods are not touched. Above the limit, new pods are refused, with or without an owner and from any creator",
        `To undo it when the source is repaired: ${undoLine(way, namespace)}`,
      ];
}

export function undoLine(way: StopSource["way"], namespace: string): string {
  return way === "Label"
    ? kubectl("label", "namespace", namespace, `${stopLabel.key}-`)
    : kubectl("-n", namespace, "delete", "quota", stopQuota);
}

function labelStep(namespace: string): StepDraft {
  const { key, value } = stopLabel;
  return ({ id }) => ({
    id,
    action: "StopSource",
    title: `Refuse new pods without an owner in ${namespace}, by the label ${key}=${value}`,
    kubectl: [kubectl("label", "--overwrite", "namespace", namespace, `${key}=${value}`)],
    preconditions: ["The ownerless-pod policy and its denying binding are installed as shipped"],
    check: {
      what: `${namespace} has the label, the policy and its binding are as shipped, and no more pods of this template come for half a minute`,
      deadlineSeconds: checkSeconds,
    },
    stopSource: { way: "Label", namespace, key, value },
  });
}

function quotaStep(avalanche: Avalanche, world: World): StepDraft {
  const { namespace } = avalanche;
  const pods = quotaPods(avalanche, world);
  const came = cameAnyway(avalanche, world);
  const create = kubectl("-n", namespace, "create", "quota", stopQuota, `--hard=pods=${pods}`);
  return ({ id }) => ({
    id,
    action: "StopSource",
    title: `Allow at most ${pods} pods in ${namespace}: those outside of the avalanche, and some headroom`,
    kubectl: [create, kubectl("-n", namespace, "describe", "quota", stopQuota)],
    preconditions: [
      came === 0
        ? "The ownerless-pod policy is not installed"
        : `${namespace} refuses ownerless pods by its label, and ${came} were created all the same`,
    ],
    check: {
      what: `The quota's status shows ${pods} as its hard limit, and no more pods of this template come for half a minute`,
      deadlineSeconds: checkSeconds,
    },
    stopSource: { way: "Quota", namespace, quota: stopQuota, pods },
  });
}

/**
 * The namespace's other pods plus headroom. It stays below today's total: otherwise the source could replace each removed
 * pod, and the namespace's own workloads would find no room.
 */
function quotaPods({ namespace, members }: Avalanche, { pods }: World): number {
  let live = 0;
  for (const pod of pods) {
    if (pod.namespace === namespace && pod.phase !== "Succeeded" && pod.phase !== "Failed") live += 1;
  }
  const others = live - members.length;
  const headroom = Math.max(headroomMin, Math.ceil(others * headroomShare));
  return others + Math.min(headroom, Math.floor(members.length / 2));
}
