import type { ContainerGroup } from "./container-group.ts";

export interface Limits {
  readonly memoryBytesMax: number;
  readonly cpuMilliMax: number;
}

/** What the limits of the upstream manifest of Multus are, and so what everybody gets here. */
export const limits: Limits = { memoryBytesMax: 50 * 1024 * 1024, cpuMilliMax: 100 };

/** Something that attaches pods on the node, and what there is to know about it. */
export interface Contender {
  /** From nothing to ready for pods. */
  start(): Promise<void>;
  /** The container that has the limits; undefined when there is none. */
  group(): ContainerGroup | undefined;
  /** How often it was started again since. */
  restarts(): Promise<number>;
  /** What it says itself after the storm; for whoever looks into a figure. */
  story(): Promise<string>;
  /** What is left of pods once all are deleted. */
  left(): Promise<readonly string[]>;
  /** Called while the storm runs, some ten times a second. */
  tend(): void;
}
