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

/** The ports of a bridge that do not lead to a pod. */
export interface UplinkFacts {
  readonly name: string;
  /** Undefined when the hand could not look. */
  readonly isUp: boolean | undefined;
  /** Absent for a port that is no VLAN's device. */
  readonly vlan?: { readonly id: number; readonly parent: string };
}

/** Why a network on this bridge would lead nowhere, with the command that mends it; undefined when nothing is wrong. */
export function bridgeProblem(need: BridgeNeed, uplinks: readonly UplinkFacts[] | undefined): string | undefined {
  if (uplinks === undefined) return undefined;
  const { bridge, uplink } = need;
  const named = uplink === undefined ? uplinks : uplinks.filter(({ name }) => name === uplink);
  if (named.length === 0) {
    return uplink === undefined
      ? `host bridge ${bridge} has no uplink (ip link set DEVICE master ${bridge})`
      : `host bridge ${bridge} lacks its uplink ${uplink} (ip link set ${uplink} master ${bridge})`;
  }
  const problems = named.map((port) => vlanProblem(need, port) ?? stateProblem(need, port));
  return problems.includes(undefined) ? undefined : problems[0];
}

function vlanProblem({ bridge, vlan, parent }: BridgeNeed, port: UplinkFacts): string | undefined {
  const what = `uplink ${port.name} of host bridge ${bridge}`;
  if (vlan === undefined) return undefined;
  if (port.vlan === undefined) return `${what} is not the device of VLAN ${vlan}`;
  if (port.vlan.id !== vlan) return `${what} is the device of VLAN ${port.vlan.id} instead of ${vlan}`;
  if (parent === undefined || port.vlan.parent === parent) return undefined;
  return `${what} is on ${port.vlan.parent} instead of ${parent}`;
}

function stateProblem({ bridge }: BridgeNeed, { name, isUp }: UplinkFacts): string | undefined {
  return isUp === false ? `uplink ${name} of host bridge ${bridge} is down (ip link set ${name} up)` : undefined;
}
