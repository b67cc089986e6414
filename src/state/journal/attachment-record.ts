import type { ContainerId, IfName, JsonText, Namespace, PodName, PodUid } from "../../base/brand.ts";
import type { NetnsIdentity, ProcessIdentity } from "../../base/identity.ts";
import type { Chain } from "../../cni/chain.ts";

/** What is known of one CNI call (container ID and interface name): all its chains, from the intent to the removal. */
export interface AttachmentRecord {
  /** Hex; names the operation, so that a shim can resume it. */
  readonly token: string;
  readonly containerId: ContainerId;
  readonly ifname: IfName;
  readonly netns: RecordedNetns;
  /** The boot in which it was made; empty when nobody knows (imported). */
  readonly bootId: string;
  readonly pod: RecordedPod;
  readonly cniPath: string;
  /** Of the call's configuration: the version of the answer. */
  readonly cniVersion: string;
  /** The shim that does it; undefined once the runtime has its result, and for an imported attachment. */
  readonly hand: ProcessIdentity | undefined;
  readonly startedWallMs: number;
  readonly chains: readonly Chain[];
  readonly phase: AttachmentPhase;
  /** Finished ADD steps by number. */
  readonly steps: ReadonlyMap<number, StepRecord>;
  /** The final result of each chain, in the order of `chains`; empty before the commit. */
  readonly results: readonly (JsonText | undefined)[];
  /** Why it is being undone. */
  readonly failure: RecordedFailure | undefined;
  /** Failed DEL attempts so far. */
  readonly delAttempts: number;
  readonly origin: "levee" | "multus";
}

export const attachmentPhases = ["intent", "undoing", "committed", "acknowledged"] as const;
type AttachmentPhase = (typeof attachmentPhases)[number];

export interface AttachmentKey {
  readonly containerId: ContainerId;
  readonly ifname: IfName;
}

export interface RecordedNetns {
  readonly path: string;
  readonly identity: NetnsIdentity | undefined;
}

export interface RecordedPod {
  readonly namespace: Namespace;
  readonly name: PodName;
  readonly uid: PodUid;
}

export interface StepRecord {
  readonly step: number;
  readonly result: JsonText | undefined;
}

/** An error in a form that survives a restart. */
export interface RecordedFailure {
  readonly code: string;
  readonly cniCode: number;
  readonly message: string;
  readonly details: string;
}

/** One string per call. Neither part may hold a `/`: interface names are checked for it, container IDs are too. */
export function keyText(key: AttachmentKey): string {
  return `${key.containerId}/${key.ifname}`;
}
