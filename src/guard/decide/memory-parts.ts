import type { CniDaemon } from "../facts/guard-settings.ts";
import type { World } from "../facts/world.ts";
import { argoOwners, unseenTracker, type ArgoOwner } from "./argo-owners.ts";
import { holdNote, holdStep, isProjectName } from "./hold-step.ts";
import { lockStep } from "./lock-step.ts";
import { memoryChange, memoryNotes, memoryStep, type MemoryChange } from "./memory-change.ts";
import type { StepDraft } from "./step-draft.ts";

/** What more memory for CNI daemons needs, by its place in the plan. */
interface MemoryParts {
  readonly holds: readonly StepDraft[];
  readonly changes: readonly StepDraft[];
  readonly locks: readonly StepDraft[];
  readonly notes: readonly string[];
}

/** More Applications than this that own one DaemonSet: nobody types so many holds, and something is wrong with them. */
const ownersMax = 4;
/** An own name would fill the note. */
const namesMax = 4;

/** For each of these daemons: hold, more memory, lock; or a note that says why not. */
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
  if ("note" in change) return { ...nothing, notes: [change.note] };
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

/** Why the change would be taken back and nobody could hold it: then it is not proposed. */
function ownersProblem(owners: readonly ArgoOwner[], { daemonSet }: MemoryChange): string | undefined {
  const label = `${daemonSet.namespace}/${daemonSet.name}`;
  if (owners.length > ownersMax)
    return `The memory of ${label} is left as it is: ${owners.length} Applications of Argo CD say that they own it (${namesOf(owners)}); look at them first`;
  const nameless = owners.find(({ application }) => !isProjectName(application.project));
  if (nameless === undefined) return undefined;
  const { name, project } = nameless.application;
  return `The memory of ${label} is left as it is: Application ${name} owns it, and its project ${JSON.stringify(project)} is no name, so that it cannot be held`;
}

/** Who takes the change back, and what is not certain about that. */
function ownerNotes(owners: readonly ArgoOwner[], change: MemoryChange, { applications, nowMs }: World): string[] {
  const { daemonSet, newLimit } = change;
  const label = `${daemonSet.namespace}/${daemonSet.name}`;
  const unseen = unseenTracker(daemonSet, owners);
  const notes: string[] = [];
  if (unseen !== undefined)
    notes.push(
      `${label} says that the Application ${unseen} owns it, which is not seen here: it counts as one that takes the change back, so hold it and write ${newLimit} into git by hand`,
    );
  if (owners.length > 1)
    notes.push(
      `${owners.length} Applications say that they own ${label} (${namesOf(owners)}): each counts as one that takes the change back, and is waited for`,
    );
  if (owners.length === 0 && unseen === undefined && applications.length > 0)
    notes.push(
      `None of ${applications.length} Applications of Argo CD is seen to own ${label}, so nothing is held: if one does, hold it first`,
    );
  return [...notes, ...owners.map((owner) => holdNote(owner, nowMs))];
}

/** Git is changed for one owner only: of several, nobody knows whose file counts. */
function lockOf(
  owners: readonly ArgoOwner[],
  change: MemoryChange,
  world: World,
): { readonly steps: readonly StepDraft[]; readonly notes: readonly string[] } {
  const [owner] = owners;
  if (owner === undefined) return { steps: [], notes: [] };
  const { daemonSet, newLimit } = change;
  if (owners.length > 1 || unseenTracker(daemonSet, owners) !== undefined) {
    const note = `Whose file in git holds the limit of ${daemonSet.namespace}/${daemonSet.name} is not certain: write ${newLimit} into git by hand before the holds end`;
    return { steps: [], notes: [note] };
  }
  const lock = lockStep(change, owner.application, world);
  return "note" in lock ? { steps: [], notes: [lock.note] } : { steps: [lock], notes: [] };
}

function namesOf(owners: readonly ArgoOwner[]): string {
  const names = owners.slice(0, namesMax).map(({ application: { namespace, name } }) => `${namespace}/${name}`);
  return [...names, ...(owners.length > namesMax ? ["…"] : [])].join(", ");
}
