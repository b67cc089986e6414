import { powerOfTwoFrom } from "../../base/exact/decay.ts";
import type { CniDaemon } from "../facts/guard-settings.ts";
import { memoryBytes, memoryText } from "../facts/memory-quantity.ts";
import type { ContainerFacts, DaemonSetFacts, World } from "../facts/world.ts";
import { kubectl } from "./kubectl-lines.ts";
import { memoryNeed } from "./memory-need.ts";
import type { StepDraft } from "./step-draft.ts";

/** More memory for one CNI daemon would hide a fault, not cure it. */
const limitCeilingBytes = 4 * 2 ** 30;
/** Share of the smallest node: the daemon must not evict the pods it serves. */
const nodeShare = 0.1;
/** Of the limit: what the scheduler keeps free for the daemon. */
const requestShare = 0.5;
/** Of the smallest node: a request that a full node cannot grant keeps the daemon off it. */
const requestNodeShare = 0.05;
/** A DaemonSet replaces its pods one node after the other by default. */
const secondsPerPod = 60;
const checkSecondsMin = 900;
const checkSecondsMax = 21_600;

/** A container that needs more memory, or no longer needs what it got. */
export interface MemoryChange {
  readonly daemonSet: DaemonSetFacts;
  readonly container: ContainerFacts;
  readonly newLimit: string;
  /** The old request where it stays. */
  readonly newRequest: string;
  /** Why the values are as they are, for people. */
  readonly reasons: readonly string[];
}

/** The new limit for an OOM-killed daemon, or a note on why there is none. */
export function memoryChange(daemon: CniDaemon, world: World): MemoryChange | { readonly note: string } {
  const { daemonSets } = world;
  const label = `${daemon.namespace}/${daemon.daemonSet}`;
  const daemonSet = daemonSets.find(({ namespace, name }) => `${namespace}/${name}` === label);
  const container = daemonSet?.containers.find(({ name }) => name === daemon.container);
  if (daemonSet === undefined || container === undefined)
    return { note: `The memory of ${label} stays as it is: it has no container ${daemon.container}` };
  const oldBytes = memoryBytes(container.memoryLimit);
  if (oldBytes === undefined)
    return { note: `The memory of ${label} stays as it is: its limit "${container.memoryLimit}" is not a quantity` };
  const need = memoryNeed(world);
  const smallest = smallestNodeBytes(world);
  const newBytes = newLimitBytes(oldBytes, need.bytes, smallest);
  if (newBytes <= oldBytes)
    return {
      note: `The memory of ${label} stays as it is: more than ${container.memoryLimit} is too much for its nodes`,
    };
  const newLimit = memoryText(newBytes);
  const newRequest = newRequestOf(container, newBytes, smallest);
  const killed = need.bytes <= oldBytes ? `; it was killed with ${container.memoryLimit}, so the next size above` : "";
  const bound = newBytes < need.bytes ? `, but more than ${newLimit} is too much for its nodes` : `: ${newLimit}`;
  return {
    daemonSet,
    container,
    newLimit,
    newRequest,
    reasons: [`The limit for ${container.name} of ${label} comes from a sum: ${need.text}${killed}${bound}`],
  };
}

/** The next power of two that the sum fits into and that is above the limit with which it was killed. */
function newLimitBytes(oldBytes: number, needBytes: number, smallestBytes: number | undefined): number {
  const wanted = Math.max(needBytes, oldBytes + 1);
  const size = powerOfTwoFrom(wanted);
  return Math.min(size, limitCeilingBytes, (smallestBytes ?? Number.POSITIVE_INFINITY) * nodeShare);
}

/** Undefined when no node tells. */
function smallestNodeBytes({ nodes }: World): number | undefined {
  const known = nodes.map((node) => node.memoryBytes).filter((bytes) => bytes > 0);
  return known.length === 0 ? undefined : Math.min(...known);
}

/** Never less than before, and none where there was none: that could keep the daemon off a full node. */
function newRequestOf(
  { memoryRequest }: ContainerFacts,
  limitBytes: number,
  smallestBytes: number | undefined,
): string {
  const oldBytes = memoryBytes(memoryRequest);
  if (oldBytes === undefined || smallestBytes === undefined) return memoryRequest;
  const newBytes = Math.min(limitBytes * requestShare, smallestBytes * requestNodeShare);
  return newBytes > oldBytes ? memoryText(newBytes) : memoryRequest;
}

/** Notes about a change for the person who decides. */
export function memoryNotes({ daemonSet, container, newRequest, reasons }: MemoryChange): readonly string[] {
  const { namespace, name, updatesOnDelete } = daemonSet;
  const request = newRequest === container.memoryRequest ? [] : [requestNote(container, newRequest)];
  if (!updatesOnDelete) return [...reasons, ...request];
  return [
    ...reasons,
    ...request,
    `${namespace}/${name} has the update strategy OnDelete, so the new limit restarts nothing by itself. Delete its pods one node after the other; the step waits for that until its deadline`,
  ];
}

function requestNote({ name, memoryRequest }: ContainerFacts, newRequest: string): string {
  const words = `The request for ${name}`;
  return isLess(newRequest, memoryRequest)
    ? `${words} goes down with it, from ${memoryRequest} to ${newRequest}: other pods may get what nodes kept free for it`
    : `${words} grows from ${memoryRequest} to ${newRequest}, so that nodes keep it free: on a node whose memory is all requested, the new pod waits or takes the place of others`;
}

/** Whether the first quantity is below the second. */
export function isLess(left: string, right: string): boolean {
  return (memoryBytes(left) ?? 0) < (memoryBytes(right) ?? 0);
}

/** The line that sets the memory of a container. */
export function memoryLine(
  { namespace, name, container }: { readonly namespace: string; readonly name: string; readonly container: string },
  limit: string,
  request?: string,
): string {
  const asks = request === undefined || request === "" ? [] : [`--requests=memory=${request}`];
  const target = [`daemonset/${name}`, "-c", container];
  return kubectl("-n", namespace, "set", "resources", ...target, `--limits=memory=${limit}`, ...asks);
}

export function memoryStep(change: MemoryChange, isHeld: boolean): StepDraft {
  const { daemonSet, container, newLimit, newRequest } = change;
  const { namespace, name, uid } = daemonSet;
  const { memoryLimit, memoryRequest } = container;
  const asks = newRequest !== memoryRequest;
  const place = { namespace, name, container: container.name };
  const isLower = isLess(newLimit, memoryLimit);
  return ({ id }) => ({
    id,
    action: "SetMemoryLimit",
    title: `${isLower ? "Lower" : "Raise"} the memory limit of ${container.name} in DaemonSet ${namespace}/${name} from ${memoryLimit} to ${newLimit}${asks ? `, and its request from ${memoryRequest} to ${newRequest}` : ""}`,
    kubectl: [
      memoryLine(place, newLimit, asks ? newRequest : undefined),
      kubectl("-n", namespace, "rollout", "status", `daemonset/${name}`),
      // How to go up again, for a person who finds it too small.
      ...(isLower ? [memoryLine(place, memoryLimit, asks ? memoryRequest : undefined)] : []),
    ],
    preconditions: [
      `The DaemonSet has the UID ${uid} and the limit ${memoryLimit}${asks ? ` with the request ${memoryRequest}` : ""}`,
      ...(isLower ? ["There was no pressure for as long as the guard is told to wait, and there is none now"] : []),
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
      newRequest,
    },
  });
}
