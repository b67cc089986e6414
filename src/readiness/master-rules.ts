/** An interface of the host that a plugin works on. */
export interface LinkNeed {
  readonly name: string;
  readonly role: "master" | "device";
  /** The network's own MTU, which may not be above the interface's. */
  readonly mtu?: number;
  /** The plugin takes all that arrives at it, so it may not be a port of a bridge, a bond or a team. */
  readonly isWhole?: true;
}

/** An interface as the host has it; undefined where the hand could not read it. */
export interface LinkFacts {
  readonly isUp: boolean | undefined;
  readonly mtu: number | undefined;
  /** It is a port of another interface. */
  readonly isPort: boolean;
}

/** Why a plugin would fail on an interface that exists, with the command that mends it. */
export function masterProblems(
  { name, role, mtu, isWhole }: LinkNeed,
  facts: LinkFacts | undefined,
): readonly string[] {
  if (facts === undefined || role !== "master") return [];
  const isTooBig = mtu !== undefined && facts.mtu !== undefined && mtu > facts.mtu;
  return [
    ...(facts.isUp === false ? [`host interface ${name} is down (ip link set ${name} up)`] : []),
    ...(facts.isPort && isWhole === true ? [`host interface ${name} is a port of another interface`] : []),
    ...(isTooBig ? [`mtu ${mtu} of the network is above ${facts.mtu} of host interface ${name}`] : []),
  ];
}
