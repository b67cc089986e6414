import { membersMin, type Avalanche } from "../detect/avalanche.ts";
import type { Chain } from "../detect/chain.ts";
import { findStuckWorkloads } from "../detect/stuck-workloads.ts";
import type { GuardSettings } from "../facts/guard-settings.ts";
import type { PodRecord } from "../facts/pod-record.ts";
import type { ApplicationFacts, World } from "../facts/world.ts";
import { holdNote, holdStep } from "./hold-step.ts";
import { lockStep } from "./lock-step.ts";
import { memoryChange, memoryStep, type MemoryChange } from "./memory-change.ts";
import { removeSteps } from "./remove-step.ts";
import type { Standing } from "./standing.ts";
import type { StepDraft } from "./step-draft.ts";
import { stuckStep } from "./stuck-step.ts";
import { verifyStep } from "./verify-step.ts";

/** 32,000 pods. More open questions than this answer nobody. */
const openRecoveriesMax = 8;

export interface RecoverPlan {
  readonly steps: readonly StepDraft[];
  readonly targets: readonly PodRecord[];
  readonly notes: readonly string[];
}

export interface PlanInput {
  readonly avalanche: Avalanche;
  readonly chain: Chain;
  readonly world: World;
  readonly settings: GuardSettings;
  readonly standing: Standing;
}

/**
 * The recovery, in the one order that holds: hold Argo CD's revert, remove what never started, raise the memory (that
 * restarts the daemons), lock it in git, list what is stuck, verify. Undefined when there is not enough to remove.
 */
export function recoverPlan(input: PlanInput): RecoverPlan | undefined {
  const { avalanche, chain, world, standing } = input;
  const targets = newTargets(avalanche, standing);
  if (targets.length < membersMin || standing.openRecoveries >= openRecoveriesMax) return undefined;
  const memory = memoryParts(input);
  const ourDaemons = new Set(input.settings.cniDaemons.map(({ namespace, daemonSet }) => `${namespace}/${daemonSet}`));
  const stuck = findStuckWorkloads(world).filter(({ namespace, name }) => !ourDaemons.has(`${namespace}/${name}`));
  return {
    steps: [
      ...memory.holds,
      ...removeSteps(avalanche.namespace, targets),
      ...memory.changes,
      ...memory.locks,
      stuckStep(stuck),
      verifyStep(avalanche.namespace, chain.linked, world),
    ],
    targets,
    notes: [...leftOutNotes(avalanche, targets, standing), ...memory.notes],
  };
}

/** Members that no Decision has yet, that never ran, and whose client says the same as that of most of them. */
function newTargets({ members, clientSays }: Avalanche, { coveredUids }: Standing): readonly PodRecord[] {
  return members.filter((pod) => !pod.everRan && pod.clientSays === clientSays && !coveredUids.has(pod.uid));
}

function leftOutNotes(
  { members }: Avalanche,
  targets: readonly PodRecord[],
  { coveredUids }: Standing,
): readonly string[] {
  const covered = members.filter(({ uid }) => coveredUids.has(uid)).length;
  const others = members.length - covered - targets.length;
  return [
    ...(covered === 0 ? [] : [`${covered} more pods of the avalanche are targets of another Decision`]),
    ...(others === 0 ? [] : [`${others} more pods are left alone: they ran once, or another client made them`]),
    "Pods that appear later are not touched; they go into a later Decision",
  ];
}

interface MemoryParts {
  readonly holds: readonly StepDraft[];
  readonly changes: readonly StepDraft[];
  readonly locks: readonly StepDraft[];
  readonly notes: readonly string[];
}

/** For each CNI daemon that is killed because of the avalanche: hold, more memory, lock. */
function memoryParts({ chain, world, settings, standing }: PlanInput): MemoryParts {
  const killed = new Set(
    chain.linked.flatMap((symptom) => (symptom.kind === "CniDaemonKilled" ? [symptom.daemonSet] : [])),
  );
  const holds: StepDraft[] = [];
  const changes: StepDraft[] = [];
  const locks: StepDraft[] = [];
  const notes: string[] = [];
  for (const daemon of settings.cniDaemons) {
    const label = `${daemon.namespace}/${daemon.daemonSet}`;
    if (!killed.has(label) || standing.memoryAsked.has(label)) continue;
    const change = memoryChange(daemon, world);
    if ("note" in change) {
      notes.push(change.note);
      continue;
    }
    changes.push(memoryStep(change));
    const application = applicationOf(change, world);
    if (application === undefined) {
      if (change.daemonSet.trackedBy !== "") notes.push(unknownApplicationNote(change));
      continue;
    }
    const { projects } = world;
    const project = projects.find(
      ({ namespace, name }) => namespace === application.namespace && name === application.project,
    );
    holds.push(holdStep(application, project));
    notes.push(holdNote(application, project, world.nowMs));
    const lock = lockStep(change, application, world);
    if ("note" in lock) notes.push(lock.note);
    else locks.push(lock);
  }
  return { holds, changes, locks, notes };
}

function applicationOf({ daemonSet }: MemoryChange, { applications }: World): ApplicationFacts | undefined {
  if (daemonSet.trackedBy === "") return undefined;
  // With Applications in several namespaces the namespace stands before the name.
  return applications.find(({ namespace, name }) => [name, `${namespace}_${name}`].includes(daemonSet.trackedBy));
}

function unknownApplicationNote({ daemonSet, newLimit }: MemoryChange): string {
  const { namespace, name, trackedBy } = daemonSet;
  return `${namespace}/${name} says that the Application ${trackedBy} owns it, which is not seen here: hold it and write ${newLimit} into git by hand`;
}
