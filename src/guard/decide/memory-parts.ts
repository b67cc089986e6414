import type { CniDaemon } from "../facts/guard-settings.ts";
import type { World } from "../facts/world.ts";
import { argoOwners, unseenTracker, type ArgoOwner } from "./argo-owners.ts";
import { holdNote, holdStep, isProjectName } from "./hold-step.ts";
import { lockStep } from "./lock-step.ts";
import { memoryChange, memoryNotes, memoryStep, type MemoryChange } from "./memory-change.ts";
import type { StepDraft } from "./step-draft.ts";

/** The steps that change the memory of CNI daemons, by their place in the plan. */
interface MemoryParts {
  readonly holds: readonly StepDraft[];
  readonly changes: readonly StepDraft[];
  readonly locks: readonly StepDraft[];
  readonly notes: readonly string[];
}

/** No person types more holds than this; so many owners mean that something else is wrong. */
const ownersMax = 4;
/** Keeps the note short. */
const namesMax = 4;

/** For each daemon: hold, more memory, lock; or a note on why not. */
export function memoryParts(daemons: readonly CniDaemon[], world: World): MemoryParts {
  const parts = daemons.map((daemon) => partsOf(daemon, world));
  return {
    holds: parts.flatMap(({ holds }) => holds),
    changes: parts.flatMap(({ changes }) => changes),
    locks: parts.flatMap(({ locks }) => locks),
    notes: parts.flatMap(({ notes }) => notes),
  };
}

function partsOf(daemon: CniDaemon, world: World): MemoryParts {
  const change = memoryChange(daemon, world);
  return "note" in change ? { ...nothing, notes: [change.note] } : changeParts(change, world);
}

/** Hold, new memory, lock; or a note on why not. */
export function changeParts(change: MemoryChange, world: World): MemoryParts {
  const owners = argoOwners(change.daemonSet, world);
  const problem = ownersProblem(owners, change);
  if (problem !== undefined) return { ...nothing, notes: [problem] };
  const lock = lockOf(owners, change, world);
  return {
    holds: owners.map(holdStep),
    changes: [memoryStep(change, owners.length > 0)],
    locks: lock.steps,
    notes: [...ownerNotes(owners, change, world), ...lock.notes, ...memoryNotes(change)],
  };
}

const nothing: MemoryParts = { holds: [], changes: [], locks: [], notes: [] };

/** Why no person could hold the Applications that would revert the change. It is then not proposed. */
function ownersProblem(owners: readonly ArgoOwner[], { daemonSet }: MemoryChange): string | undefined {
  const label = `${daemonSet.namespace}/${daemonSet.name}`;
  if (owners.length > ownersMax)
    return `The memory of ${label} stays as it is: ${owners.length} Argo CD Applications claim to own it (${namesOf(owners)}); look at them first`;
  const nameless = owners.find(({ application }) => !isProjectName(application.project));
  if (nameless === undefined) return undefined;
  const { name, project } = nameless.application;
  return `The memory of ${label} stays as it is: Application ${name} owns it and cannot be held, because its project ${JSON.stringify(project)} is not a valid name`;
}

/** Which Applications revert the change, and which of that is uncertain. */
function ownerNotes(owners: readonly ArgoOwner[], change: MemoryChange, { applications, nowMs }: World): string[] {
  const { daemonSet, newLimit } = change;
  const label = `${daemonSet.namespace}/${daemonSet.name}`;
  const unseen = unseenTracker(daemonSet, owners);
  const notes: string[] = [];
  if (unseen !== undefined)
    notes.push(
      `${label} is marked as owned by the Application ${unseen}, which this guard cannot see: it may revert the change, so hold it and write ${newLimit} into git by hand`,
    );
  if (owners.length > 1)
    notes.push(
      `${owners.length} Applications claim to own ${label} (${namesOf(owners)}): each may revert the change, and the plan waits until each is held`,
    );
  if (owners.length === 0 && unseen === undefined && applications.length > 0)
    notes.push(
      `None of ${applications.length} Argo CD Applications seems to own ${label}, so nothing is held: if one does, hold it first`,
    );
  return [...notes, ...owners.map((owner) => holdNote(owner, nowMs))];
}

/** Only for a single owner: with several, the file that counts is unknown. */
function lockOf(
  owners: readonly ArgoOwner[],
  change: MemoryChange,
  world: World,
): { readonly steps: readonly StepDraft[]; readonly notes: readonly string[] } {
  const [owner] = owners;
  if (owner === undefined) return { steps: [], notes: [] };
  const { daemonSet, newLimit } = change;
  if (owners.length > 1 || unseenTracker(daemonSet, owners) !== undefined) {
    const note = `It is uncertain which file in git holds the limit of ${daemonSet.namespace}/${daemonSet.name}: write ${newLimit} into git by hand before the holds end`;
    return { steps: [], notes: [note] };
  }
  const lock = lockStep(change, owner.application, world);
  return "note" in lock ? { steps: [], notes: [lock.note] } : { steps: [lock], notes: [] };
}

function namesOf(owners: readonly ArgoOwner[]): string {
  const names = owners.slice(0, namesMax).map(({ application: { namespace, name } }) => `${namespace}/${name}`);
  return [...names, ...(owners.length > namesMax ? ["…"] : [])].join(", ");
}
