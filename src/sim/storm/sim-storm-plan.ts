import type { MachineModel } from "../machine/machine-model.ts";
import type { ContainerLimits } from "../machine/sim-machine.ts";
import type { StoryFault } from "../story/story.ts";

/** What attaches the pods. */
export type Implementation = "levee" | "multus-4.2.2" | "multus-4.3.0";

/** A pod of a simulated storm, and where and when it comes. */
export interface SimStormPod {
  readonly node: string;
  readonly namespace: string;
  readonly name: string;
  readonly isCritical: boolean;
  /** Besides the default network. */
  readonly networks: readonly string[];
  readonly atMs: number;
  /** Undefined for a pod that stays. */
  readonly deleteAtMs: number | undefined;
  /** Whether it must be attached for the storm to hold. */
  readonly mustRun: boolean;
}

/** Something that goes wrong on one node, or for a fault of the API server anywhere. */
export interface SimStormFault {
  readonly node: string;
  readonly fault: StoryFault;
}

/** All that happens in a simulated storm. */
export interface SimStormPlan {
  readonly title: string;
  readonly impl: Implementation;
  /** Of Multus 4.3.0; undefined for its default, which is no limit. */
  readonly connectionLimit: number | undefined;
  readonly seed: number;
  readonly nodes: readonly string[];
  readonly limits: ContainerLimits;
  readonly model: MachineModel;
  /** Besides the default one. */
  readonly networks: readonly string[];
  readonly pods: readonly SimStormPod[];
  readonly faults: readonly SimStormFault[];
  /** How long a pod may take from its coming, or from the end of the last fault if that is later. */
  readonly timeoutMs: number;
  /** The same for critical pods. */
  readonly criticalWithinMs: number;
  /** The pauses before the daemon starts again, instead of the kubelet's. */
  readonly restartMs: readonly number[] | undefined;
  /** It goes on until then, even if every pod is where it is to be. Others, that need not be, are tried again. */
  readonly lastsMs?: number;
}
