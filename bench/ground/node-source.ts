import type { PodKey } from "../../src/cli/node/names.ts";
import type { FleetPod } from "../../src/cli/storm/fleet.ts";

/** A pod as it is made for a measurement. */
export interface PodWish extends PodKey {
  readonly annotations: Readonly<Record<string, string>>;
  readonly isCritical?: boolean;
}

/** Where daemons learn of pods and networks: a real API server, or a folder where none can be had. */
export interface NodeSource {
  /** For the table: what it is. */
  readonly label: string;
  /** Settings and environment of a Levee daemon that reads from here. */
  readonly settings: Readonly<Record<string, unknown>>;
  readonly env: Readonly<Record<string, string>>;
  addNetwork(name: string, conf: unknown): Promise<void>;
  /** Makes those that are not there yet. */
  addPods(wishes: readonly PodWish[]): Promise<readonly FleetPod[]>;
  removePod(pod: PodKey): Promise<void>;
  stop(): Promise<void>;
}

/** The namespace that has the networks. */
export const networkNamespace = "nets";
export const podNamespaces = ["storm", "vital", "other"] as const;
