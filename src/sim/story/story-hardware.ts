import { defaultModel } from "../machine/default-model.ts";
import { mibBytes } from "../machine/sim-machine.ts";
import type { StoryMachine } from "./story.ts";

/** As without hardware: the kubelet sees a pod within this time. */
const seeMsMax = 800;
/** Few plugins at once, so that pods wait in line. */
const ceilings = { attachCeiling: 2, attachStart: 1, detachCeiling: 4 };
/** What an installed daemon takes beside its line: the ceilings and the spare connections. */
const installed = { waitingMax: 2_000, others: 104 };
const others = 70;

/**
 * A node in small: its line takes few calls, and each costs as much more memory as that line is shorter than the installed
 * one. So a full line takes the same share of the limit as a full line of 2,000.
 */
export function hardwareOfStory(machine: StoryMachine | undefined) {
  if (machine === undefined) return { settings: {} };
  const { limitMib, cpuMillis, waitingMax } = machine;
  const { daemon } = defaultModel;
  const callKib = (daemon.callKib * (installed.waitingMax + installed.others)) / (waitingMax + others);
  const model = { ...defaultModel, daemon: { ...daemon, callKib } };
  return {
    settings: { waitingMax, ...ceilings },
    hardware: { model, limits: { limitBytes: limitMib * mibBytes, cpuMillis }, seeMsMax },
  };
}
