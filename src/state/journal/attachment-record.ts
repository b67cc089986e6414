import { LeveeError } from "../../base/errors.ts";
import type { ContainerId, IfName, JsonText, Namespace, PodName, PodUid } from "../../base/brand.ts";
import type { NetnsIdentity, ProcessIdentity } from "../../base/identity.ts";
import type { Chain } from "../../cni/chain.ts";
import type { PlugRecord } from "./plug-record.ts";

/** The record of one ADD (container ID and interface name): all its chains, from the intent to the removal. */
export interface AttachmentRecord {
  /** Hex. It identifies the call, so that a shim can resume it. */
  readonly token: string;
  readonly containerId: ContainerId;
  readonly ifname: IfName;
  readonly netns: RecordedNetns;
  /** The boot in which it began; empty for an imported record. */
  readonly bootId: string;
  readonly pod: RecordedPod;
  readonly cniPath: string;
  /** From the call's configuration: the version of the reply. */
  readonly cniVersion: string;
  /** The shim of the call; undefined once the runtime has the result, and for an imported record. */
  readonly hand: ProcessIdentity | undefined;
  readonly startedWallMs: number;
  readonly chains: readonly Chain[];
  readonly phase: AttachmentPhase;
  /** Finished steps by number. */
  readonly steps: ReadonlyMap<number, StepRecord>;
  /** The final result of each chain, in the order of `chains`; empty before the commit. */
  readonly results: readonly (JsonText | undefined)[];
  /** Why it is undone. */
  readonly failure: RecordedFailure | undefined;
  /** Failed DEL attempts so far. */
  readonly delAttempts: number;
  readonly origin: "levee" | "multus";
  /** A change of the networks of the running pod that has not ended. */
  readonly plug?: PlugRecord | undefined;
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

/** One string per call. Neither part contains a `/`, because both are checked when the call comes in. */
export function keyText(key: AttachmentKey): string {
  return `${key.containerId}/${key.ifname}`;
}

/** Two records of one call, or of one interface, would end each other. */
export function refuseBegin(
  { containerId, ifname, token }: AttachmentRecord,
  { isTaken, isTokenInUse }: { readonly isTaken: boolean; readonly isTokenInUse: boolean },
): void {
  if (isTaken)
    throw new LeveeError(
      "interface-taken",
      `Cannot begin an attachment of ${ifname} as there is one: the container is ${containerId}`,
    );
  if (isTokenInUse)
    throw new LeveeError("internal", `Cannot begin an attachment under a token that is in use: it is ${token}`);
}
