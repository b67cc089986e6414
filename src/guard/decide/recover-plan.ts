import { membersMin, type Avalanche } from "../detect/avalanche.ts";
import type { CauseChain } from "../detect/cause-chain.ts";
import { findStuckWorkloads, type StuckWorkload } from "../detect/stuck-workloads.ts";
import type { CniDaemon, GuardSettings } from "../facts/guard-settings.ts";
import type { ClusterPod } from "../facts/cluster-pod.ts";
import type { World } from "../facts/world.ts";
import { criticalNotes } from "./critical-notes.ts";
import { memoryParts } from "./memory-parts.ts";
import { removeSteps } from "./remove-step.ts";
import { restartSteps } from "./restart/restart-steps.ts";
import type { Standing } from "./standing.ts";
import type { StepDraft } from "./step-draft.ts";
import { stuckStep } from "./stuck-step.ts";
import { verifyStep } from "./verify-step.ts";

/** Commands that a person types. Any client can use the name, so it spares only a few pods and hides nothing. */
const byHand = /^kubectl\b/u;

interface RecoverPlan {
  readonly steps: readonly StepDraft[];
  readonly targets: readonly ClusterPod[];
  readonly notes: readonly string[];
}

interface RecoverInput {
  readonly avalanche: Avalanche;
  readonly chain: CauseChain;
  readonly world: World;
  readonly settings: GuardSettings;
  readonly standing: Standing;
}

/**
 * The recovery in its only safe order: hold Argo CD's revert, remove pods that never started, raise the memory (which
 * restarts the daemons), lock it in git, list stuck workloads, restart those that followed from the cause, verify.
 * Undefined when there is not enough to remove.
 */
export function recoverPlan(input: RecoverInput): RecoverPlan | undefined {
  const { avalanche, chain, world, standing } = input;
  const targets = newTargets(avalanche, standing);
  if (targets.length < membersMin) return undefined;
  const memory = memoryParts(killedDaemons(input), world);
  const ourDaemons = new Set(input.settings.cniDaemons.map(({ namespace, daemonSet }) => `${namespace}/${daemonSet}`));
  const stuck = findStuckWorkloads(world).filter(({ namespace, name }) => !ourDaemons.has(`${namespace}/${name}`));
  const restarts = restartSteps(stuck.filter(isLinked(chain)), world);
  return {
    steps: [
      ...memory.holds,
      ...removeSteps(avalanche.namespace, targets),
      ...memory.changes,
      ...memory.locks,
      stuckStep(stuck),
      ...restarts.steps,
      verifyStep(avalanche, chain.linked, world, input.settings),
    ],
    targets,
    notes: [
      ...leftOutNotes(avalanche, targets, standing),
      ...memory.notes,
      ...restarts.notes,
      ...criticalNotes(chain.linked, world),
    ],
  };
}

/** Whatever else is stuck has another cause, which a restart does not cure. */
function isLinked({ linked }: CauseChain): (workload: StuckWorkload) => boolean {
  const keyOf = ({ kind, namespace, name }: StuckWorkload): string => `${kind} ${namespace}/${name}`;
  const keys = new Set(linked.flatMap((one) => (one.kind === "WorkloadStuck" ? [keyOf(one.workload)] : [])));
  return (workload) => keys.has(keyOf(workload));
}

/**
 * Members that are in no Decision yet. A few that a person seems to have created are left out, unless they are twenty or
 * more, or the rest alone would not be an avalanche.
 */
export function newTargets({ members }: Avalanche, { coveredUids }: Standing): readonly ClusterPod[] {
  const others = members.filter(({ clientSays }) => !byHand.test(clientSays));
  const isFew = members.length - others.length < membersMin && others.length >= membersMin;
  return (isFew ? others : members).filter(({ uid }) => !coveredUids.has(uid));
}

function leftOutNotes(
  { members }: Avalanche,
  targets: readonly ClusterPod[],
  { coveredUids }: Standing,
): readonly string[] {
  const covered = members.filter(({ uid }) => coveredUids.has(uid)).length;
  const others = members.length - covered - targets.length;
  return [
    ...(covered === 0 ? [] : [`${covered} more pods of the avalanche are targets of another Decision`]),
    ...(others === 0 ? [] : [`${others} more pods are left alone: by their client's name, a person created them`]),
    "Until it is approved, this plan follows the cause. Pods that come later are not touched; they go into one later Decision",
  ];
}

/** The CNI daemons that the avalanche kills and that no Decision covers yet. */
function killedDaemons({ chain, settings, standing }: RecoverInput): readonly CniDaemon[] {
  const killed = new Set(
    chain.linked.flatMap((symptom) => (symptom.kind === "CniDaemonKilled" ? [symptom.daemonSet] : [])),
  );
  return settings.cniDaemons.filter(({ namespace, daemonSet }) => {
    const label = `${namespace}/${daemonSet}`;
    return killed.has(label) && !standing.memoryAsked.has(label);
  });
}
