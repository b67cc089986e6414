import type { CniDaemon } from "../facts/guard-settings.ts";
import { memoryBytes, memoryText } from "../facts/memory-quantity.ts";
import type { ContainerFacts, DaemonSetFacts, World } from "../facts/world.ts";
import { kubectl } from "./kubectl-lines.ts";
import type { StepDraft } from "./step-draft.ts";

/** Measured: daemons with 256Mi and 512Mi were killed again while 219 pods caught up; 1Gi was enough. */
const limitFloorBytes = 2 ** 30;
/** More memory for one CNI daemon would hide a fault, not cure it. */
const limitCeilingBytes = 4 * 2 ** 30;
/** Share of the smallest node: the daemon must not evict the pods it serves. */
const nodeShare = 0.1;
/** A DaemonSet replaces its pods one node after the other by default. */
const secondsPerPod = 60;
const checkSecondsMin = 900;
const checkSecondsMax = 21_600;

/** A container that needs more memory. */
export interface MemoryChange {
  readonly daemonSet: DaemonSetFacts;
  readonly container: ContainerFacts;
  readonly newLimit: string;
}

/** The new limit for an OOM-killed daemon, or a note on why there is none. */
export function memoryChange(
  daemon: CniDaemon,
  { daemonSets, nodes }: World,
): MemoryChange | { readonly note: string } {
  const label = `${daemon.namespace}/${daemon.daemonSet}`;
  const daemonSet = daemonSets.find(({ namespace, name }) => `${namespace}/${name}` === label);
  const container = daemonSet?.containers.find(({ name }) => name === daemon.container);
  if (daemonSet === undefined || container === undefined)
    return { note: `The memory of ${label} stays as it is: it has no container ${daemon.container}` };
  const oldBytes = memoryBytes(container.memoryLimit);
  if (oldBytes === undefined)
    return { note: `The memory of ${label} stays as it is: its limit "${container.memoryLimit}" is not a quantity` };
  const newBytes = newLimitBytes(
    oldBytes,
    nodes.map((node) => node.memoryBytes),
  );
  if (newBytes <= oldBytes)
    return {
      note: `The memory of ${label} stays as it is: more than ${container.memoryLimit} is too much for its nodes`,
    };
  return { daemonSet, container, newLimit: memoryText(newBytes) };
}

function newLimitBytes(oldBytes: number, nodeBytes: readonly number[]): number {
  const known = nodeBytes.filter((bytes) => bytes > 0);
  const nodeLimit = known.length === 0 ? limitCeilingBytes : Math.min(...known) * nodeShare;
  return Math.min(Math.max(limitFloorBytes, oldBytes * 2), limitCeilingBytes, nodeLimit);
}

/** Further notes about a change for the person who decides. */
export function memoryNotes({ daemonSet }: MemoryChange): readonly string[] {
  const { namespace, name, updatesOnDelete } = daemonSet;
  if (!updatesOnDelete) return [];
  return [
    `${namespace}/${name} has the update strategy OnDelete, so the new limit restarts nothing by itself. Delete its pods one node after the other; the step waits for that until its deadline`,
  ];
}

export function memoryStep({ daemonSet, container, newLimit }: MemoryChange, isHeld: boolean): StepDraft {
  const { namespace, name, uid } = daemonSet;
  const { memoryLimit, memoryRequest } = container;
  const target = [`daemonset/${name}`, "-c", container.name];
  return ({ id }) => ({
    id,
    action: "SetMemoryLimit",
    title: `Raise the memory limit of ${container.name} in DaemonSet ${namespace}/${name} from ${memoryLimit} to ${newLimit}`,
    kubectl: [
      kubectl("-n", namespace, "set", "resources", ...target, `--limits=memory=${newLimit}`),
      kubectl("-n", namespace, "rollout", "status", `daemonset/${name}`),
    ],
    preconditions: [
      `The DaemonSet has the UID ${uid} and the limit ${memoryLimit}`,
      ...(isHeld ? ["Argo CD does not revert the change: the hold is in force"] : []),
    ],
    check: {
      what: "Every pod of the DaemonSet is new, ready, and has not been killed since",
      deadlineSeconds: Math.min(checkSecondsMax, Math.max(checkSecondsMin, daemonSet.desired * secondsPerPod)),
    },
    setMemoryLimit: {
      kind: "DaemonSet",
      namespace,
      name,
      uid,
      container: container.name,
      oldLimit: memoryLimit,
      newLimit,
      oldRequest: memoryRequest,
      newRequest: memoryRequest,
    },
  });
}
