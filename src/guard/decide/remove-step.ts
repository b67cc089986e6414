import { membersMin } from "../detect/avalanche.ts";
import { removeStepsMax, targetsBytesMax, targetsPerStepMax } from "../decision/limits.ts";
import type { PodTarget } from "../decision/step.ts";
import type { ClusterPod } from "../facts/cluster-pod.ts";
import { removalLine } from "./kubectl-lines.ts";
import type { StepDraft } from "./step-draft.ts";

/** Each removal is a CNI DEL; ten at once on one node leave its daemon room for other calls. */
const batchPerNode = 10;
/** Kubelet ends a pod that never ran within seconds, unless the node's CNI daemon is down: then never. */
const forceAfterSeconds = 60;
/** 1,000 pods on one node are 100 batches of up to a minute each. */
const checkSeconds = 7_200;

/** One step per thousand pods, oldest first. Pods that do not fit go into a later Decision. */
export function removeSteps(namespace: string, pods: readonly ClusterPod[]): readonly StepDraft[] {
  const targets = fitting(pods);
  const steps: StepDraft[] = [];
  for (let from = 0; from < targets.length; from += targetsPerStepMax)
    steps.push(removeStep(namespace, targets.slice(from, from + targetsPerStepMax)));
  return steps;
}

function fitting(pods: readonly ClusterPod[]): readonly PodTarget[] {
  const targets: PodTarget[] = [];
  let bytes = 0;
  for (const { namespace, name, uid, node } of pods.slice(0, removeStepsMax * targetsPerStepMax)) {
    const target = { namespace, name, uid, node };
    bytes += Buffer.byteLength(JSON.stringify(target)) + 1;
    if (bytes > targetsBytesMax) break;
    targets.push(target);
  }
  return targets;
}

function removeStep(namespace: string, targets: readonly PodTarget[]): StepDraft {
  // The last step may have fewer pods than an avalanche.
  const presentMin = Math.min(membersMin, targets.length);
  return ({ id, decision, namespace: home }) => {
    const removal = { namespace: home, decision, step: id };
    return {
      id,
      action: "RemovePods",
      title: `Remove ${targets.length} ownerless pods of ${namespace} that never started a container`,
      kubectl: [removalLine(removal, false), removalLine(removal, true)],
      preconditions: [
        `${namespace} refuses new pods without an owner`,
        `At least ${presentMin} of these pods are still Pending`,
        "Each pod has the same UID, no owner and no address, is not a mirror pod, and never started a container",
      ],
      check: {
        what: "None of these UIDs exists any more, except those left alone",
        deadlineSeconds: checkSeconds,
      },
      removePods: { namespace, batchPerNode, forceAfterSeconds, presentMin },
      targets,
    };
  };
}
