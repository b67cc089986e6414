import type { FlagKnob } from "./knob.ts";

export const flagKnobs = {
  hotPlug: {
    unit: "boolean",
    default: true,
    reason:
      "Whether a change of the networks annotation of a running pod [attaches and detaches](hot-plug.md). It needs the resident hand. Turn it off where another controller does this, and where who may patch a pod must not choose its networks.",
    origin: "levee",
  },
  claimNetworkData: {
    unit: "boolean",
    default: false,
    reason:
      "Whether the daemon writes interface, addresses and MAC of a network whose device came from a claim into [the claim's status](devices.md#the-interface-in-the-claims-status). It needs a role of its own. Leave it off where the device's driver writes them.",
    origin: "levee",
  },
} as const satisfies Record<string, FlagKnob>;
