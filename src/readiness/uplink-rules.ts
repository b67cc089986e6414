/** The host's side of a bridge network without a gateway: its bridge, and the port that leads out of the host. */
export interface BridgeNeed {
  readonly bridge: string;
  /** The port that must be there; undefined: any port that does not lead to a pod. */
  readonly uplink?: string;
  /** The uplink must be the device of this VLAN. */
  readonly vlan?: number;
  /** The interface below the VLAN's device. */
  readonly parent?: string;
}

/** A port of a bridge that does not lead to a pod. */
export interface UplinkFacts {
  readonly name: string;
  /** Undefined when the hand could not look. */
  readonly isUp: boolean | undefined;
  /** Undefined for a port that is no VLAN's device. */
  readonly vlan?: { readonly id: number; readonly parent: string } | "unseen" | undefined;
}

/** The ports of a bridge; undefined when the hand could not look. */
export type BridgePorts = readonly UplinkFacts[] | "no-bridge" | undefined;

/** What a look at a bridge says about its way out of the host. `port` is the uplink that serves. */
export type UplinkVerdict =
  | { readonly state: "there"; readonly port: string }
  | { readonly state: "unseen"; readonly reason: string; readonly port?: string }
  /** The network would lead nowhere. The reason has the command that mends it. */
  | { readonly state: "missing"; readonly reason: string; readonly port?: undefined };

/** One uplink that serves is enough. Where none is known to, one that was not seen whole may. */
export function judgeUplink(need: BridgeNeed, ports: BridgePorts): UplinkVerdict {
  const { bridge, uplink } = need;
  if (ports === undefined) return { state: "unseen", reason: `the ports of host bridge ${bridge} were not seen` };
  if (ports === "no-bridge") return missing(`missing host bridge ${bridge} (the interface ${bridge} is not a bridge)`);
  const verdicts = ports
    .filter(({ name }) => uplink === undefined || name === uplink)
    .map((port) => vlanVerdict(need, port) ?? stateVerdict(need, port));
  const best = verdicts.find(({ state }) => state === "there") ?? verdicts.find(({ state }) => state === "unseen");
  return best ?? verdicts[0] ?? missing(noUplink(need));
}

function noUplink({ bridge, uplink }: BridgeNeed): string {
  return uplink === undefined
    ? `host bridge ${bridge} has no uplink (ip link set DEVICE master ${bridge})`
    : `host bridge ${bridge} lacks its uplink ${uplink} (ip link set ${uplink} master ${bridge})`;
}

/** Undefined when nothing is wrong with the VLAN. */
function vlanVerdict({ bridge, vlan, parent }: BridgeNeed, port: UplinkFacts): UplinkVerdict | undefined {
  const what = `uplink ${port.name} of host bridge ${bridge}`;
  if (vlan === undefined) return undefined;
  if (port.vlan === "unseen") return unseen(`the VLAN of ${what} was not seen`, port);
  if (port.vlan === undefined) return missing(`${what} is not the device of VLAN ${vlan}`);
  if (port.vlan.id !== vlan) return missing(`${what} is the device of VLAN ${port.vlan.id} instead of ${vlan}`);
  if (parent === undefined || port.vlan.parent === parent) return undefined;
  return missing(`${what} is on ${port.vlan.parent} instead of ${parent}`);
}

function stateVerdict({ bridge }: BridgeNeed, port: UplinkFacts): UplinkVerdict {
  const { name, isUp } = port;
  const what = `uplink ${name} of host bridge ${bridge}`;
  if (isUp === undefined) return unseen(`the state of ${what} was not seen`, port);
  return isUp ? { state: "there", port: name } : missing(`${what} is down (ip link set ${name} up)`);
}

function missing(reason: string): UplinkVerdict {
  return { state: "missing", reason };
}

function unseen(reason: string, { name }: UplinkFacts): UplinkVerdict {
  return { state: "unseen", reason, port: name };
}
