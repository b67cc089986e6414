import type { ContainerGroup } from "./container-group.ts";

export interface Limits {
  readonly memoryBytesMax: number;
  readonly cpuMilliMax: number;
}

/** The limits of Multus' own manifest. Every contender gets the same. */
export const limits: Limits = { memoryBytesMax: 50 * 1024 * 1024, cpuMilliMax: 100 };

/** A program that attaches pods on the node, and its figures. */
export interface Contender {
  /** Installs it and waits until it is ready for pods. */
  start(): Promise<void>;
  /** The container with the limits; undefined if there is none. */
  group(): ContainerGroup | undefined;
  /** How often it has restarted since. */
  restarts(): Promise<number>;
  /** Its own account after the storm, to explain a figure. */
  story(): Promise<string>;
  /** Leftovers of the pods after all are deleted. */
  left(): Promise<readonly string[]>;
  /** Called about ten times a second while the storm runs. */
  tend(): void;
}
