import type { CniDaemon } from "../facts/guard-settings.ts";
import { memoryBytes, memoryText } from "../facts/memory-quantity.ts";
import type { ContainerFacts, DaemonSetFacts, World } from "../facts/world.ts";
import { kubectl } from "./kubectl-lines.ts";
import type { StepDraft } from "./step-draft.ts";

/** 256Mi and 512Mi were killed again in the catch-up of 219 pods; 1Gi held. */
const limitFloorBytes = 2 ** 30;
/** More than this for one CNI daemon hides a fault instead of curing it. */
const limitCeilingBytes = 4 * 2 ** 30;
/** Of the smallest node: the daemon must not push out what it serves. */
const nodeShare = 0.1;
/** The pods are made anew one node after the other, unless the DaemonSet says otherwise. */
const secondsPerPod = 60;
const checkSecondsMin = 900;
const checkSecondsMax = 21_600;

/** A container that is to have more memory. */
export interface MemoryChange {
  readonly daemonSet: DaemonSetFacts;
  readonly container: ContainerFacts;
  readonly newLimit: string;
}

/** What would help a daemon that is killed for its memory, or why nothing is proposed. */
export function memoryChange(
  daemon: CniDaemon,
  { daemonSets, nodes }: World,
): MemoryChange | { readonly note: string } {
  const label = `${daemon.namespace}/${daemon.daemonSet}`;
  const daemonSet = daemonSets.find(({ namespace, name }) => `${namespace}/${name}` === label);
  const container = daemonSet?.containers.find(({ name }) => name === daemon.container);
  if (daemonSet === undefined || container === undefined)
    return { note: `The memory of ${label} is left as it is: it has no container ${daemon.container}` };
  const oldBytes = memoryBytes(container.memoryLimit);
  if (oldBytes === undefined)
    return { note: `The memory of ${label} is left as it is: its limit "${container.memoryLimit}" is no quantity` };
  const newBytes = newLimitBytes(
    oldBytes,
    nodes.map((node) => node.memoryBytes),
  );
  if (newBytes <= oldBytes)
    return {
      note: `The memory of ${label} is left as it is: more than ${container.memoryLimit} is too much for its nodes`,
    };
  return { daemonSet, container, newLimit: memoryText(newBytes) };
}

function newLimitBytes(oldBytes: number, nodeBytes: readonly number[]): number {
  const known = nodeBytes.filter((bytes) => bytes > 0);
  const nodeLimit = known.length === 0 ? limitCeilingBytes : Math.min(...known) * nodeShare;
  return Math.min(Math.max(limitFloorBytes, oldBytes * 2), limitCeilingBytes, nodeLimit);
}

/** What a person should know of a change besides the step itself. */
export function memoryNotes({ daemonSet }: MemoryChange): readonly string[] {
  const { namespace, name, updatesOnDelete } = daemonSet;
  if (!updatesOnDelete) return [];
  return [
    `${namespace}/${name} is updated OnDelete: the new limit restarts nothing by itself. Delete its pods one node after the other; the step waits for that until its deadline`,
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
      ...(isHeld ? ["Argo CD does not take the change back: the hold is seen"] : []),
    ],
    check: {
      what: "Every pod of the DaemonSet is new, ready, and was not killed since",
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
