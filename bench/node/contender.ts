import type { Cluster } from "../../test/e2e/cluster.ts";
import type { Surroundings } from "../../test/e2e/the-cluster.ts";
import type { ContainerGroup } from "./container-group.ts";
import { Levee } from "./levee.ts";
import { Multus } from "./multus.ts";
import { Primary } from "./primary.ts";

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

export const contenderNames = ["primary", "levee", "levee-shipped", "multus-v4.2.2", "multus-v4.3.0"] as const;
export type ContenderName = (typeof contenderNames)[number];

export const contenderLabels: Readonly<Record<ContenderName, string>> = {
  "primary": "the primary CNI alone",
  "levee": "Levee",
  "levee-shipped": "Levee, limits as shipped",
  "multus-v4.2.2": "Multus v4.2.2",
  "multus-v4.3.0": "Multus v4.3.0",
};

export function makeContender(name: ContenderName, cluster: Cluster, surroundings: Surroundings): Contender {
  switch (name) {
    case "primary":
      return new Primary();
    case "levee":
      return new Levee(cluster, limits);
    case "levee-shipped":
      return new Levee(cluster);
    case "multus-v4.2.2":
    case "multus-v4.3.0": {
      const version = name.slice("multus-".length);
      return new Multus(cluster, version, surroundings.multus[version] ?? "");
    }
  }
}
