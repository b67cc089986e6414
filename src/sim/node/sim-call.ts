import { encodeFrame, protocolVersion, type OutgoingField } from "../../wire/frame.ts";
import type { SimMachine } from "../machine/sim-machine.ts";
import type { SimNetns, SimSession } from "./sim-kernel.ts";

/** A CNI call as the runtime makes it. */
export interface SimCall {
  readonly verb: "ADD" | "DEL";
  readonly containerId: string;
  readonly netns: string;
  readonly cniArgs: string;
  readonly config: string;
}

/** Who makes the call, and where. */
interface Caller {
  readonly session: SimSession;
  /** Undefined when the namespace is gone. */
  readonly netns: SimNetns | undefined;
  readonly leftMs: number;
}

/** The only interface name that runtimes ask for. */
export const callIfname = "eth0";

/** CALL, or RESUME with the fields of the operation that goes on. */
export function callFrame(
  call: SimCall,
  { session, netns, leftMs }: Caller,
  resume?: readonly OutgoingField[],
): Uint8Array {
  return encodeFrame(resume === undefined ? "CALL" : "RESUME", [
    ...introduction(session),
    ["verb", call.verb],
    ["container_id", call.containerId],
    ["netns", call.netns],
    ["ifname", callIfname],
    ["cni_args", call.cniArgs],
    ...(netns === undefined ? [] : identityOf(netns)),
    ["own_netns_dev", 4n],
    ["own_netns_ino", 4_026_531_840n],
    ["config_length", Buffer.byteLength(call.config)],
    ["budget_ms", Math.max(0, Math.round(leftMs))],
    ...(resume ?? []),
  ]);
}

/** What every hand says first. */
export function introduction({ pid, startTicks }: SimSession): readonly OutgoingField[] {
  return [
    ["version_min", 1],
    ["version_max", protocolVersion],
    ["software", "levee-shim simulated"],
    ["pid", pid],
    ["pid_start", startTicks],
    ["pid_namespace", 4_026_531_836],
    ["cni_path", "/opt/cni/bin"],
  ];
}

/** Tells how long a run has used no CPU. Only where runs cost CPU does anybody know. */
export function progressOf(
  machine: SimMachine | undefined,
  send: (frame: Uint8Array) => void,
): ((step: number, idleMs: number) => void) | undefined {
  if (machine === undefined) return undefined;
  return (step, idleMs) =>
    send(
      encodeFrame("PROGRESS", [
        ["step", step],
        ["idle_ms", idleMs],
      ]),
    );
}

function identityOf({ inode, cookie, links }: SimNetns): readonly OutgoingField[] {
  const names: readonly OutgoingField[] = ["lo", ...links.keys()].map((name) => ["link", name]);
  return [["netns_dev", 4n], ["netns_ino", inode], ["netns_cookie", cookie], ...names];
}
