import { bootMs, defaultNetwork } from "../story/story.ts";
import type { SimStormFault, SimStormPod } from "./sim-storm-plan.ts";
import type { SimPodRecord } from "./sim-storm-end.ts";

/** When a fault is over, and the kubelet can begin to make good what it broke. */
export function faultEndMs(fault: SimStormFault["fault"]): number {
  if (fault.kind === "cut-power") return fault.atMs + bootMs;
  return fault.atMs + ("forMs" in fault ? fault.forMs : 0);
}

/**
 * How long a pod has waited since it came, or came anew after a power cut, without the time in which a fault held it up.
 * Undefined for one that is not attached.
 */
export function waitMs(record: SimPodRecord, faults: readonly SimStormFault[]): number | undefined {
  const { pod, wantedMs, attachedMs } = record;
  if (attachedMs === undefined) return undefined;
  const spells = faults
    .filter((one) => holdsUp(one, pod))
    // A pod that was attached meanwhile was not held up.
    .map(({ fault }) => ({ fromMs: Math.max(wantedMs, fault.atMs), toMs: faultEndMs(fault) }))
    .filter(({ fromMs, toMs }) => toMs <= attachedMs && toMs > fromMs)
    .toSorted((one, other) => one.fromMs - other.fromMs);
  let heldMs = 0;
  let seenMs = wantedMs;
  for (const { fromMs, toMs } of spells) {
    // Two faults at the same time hold it up once.
    heldMs += Math.max(0, toMs - Math.max(fromMs, seenMs));
    seenMs = Math.max(seenMs, toMs);
  }
  return attachedMs - wantedMs - heldMs;
}

/** A daemon or shim that is killed is back at once: the pods' promise holds with that. */
function holdsUp({ node, fault }: SimStormFault, pod: SimStormPod): boolean {
  if (fault.kind.startsWith("api-")) return true;
  if (node !== pod.node) return false;
  if ("network" in fault) return fault.network === defaultNetwork || pod.networks.includes(fault.network);
  return fault.kind === "cut-power" || fault.kind.startsWith("disk-");
}
