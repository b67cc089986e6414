import type { PodKey } from "../../src/cli/node/names.ts";
import type { FleetPod } from "../../src/cli/storm/fleet.ts";

/** A pod to create for a measurement. */
export interface PodWish extends PodKey {
  readonly annotations: Readonly<Record<string, string>>;
  readonly isCritical?: boolean;
}

/** The source of pods and networks for the daemons: a real API server, or a folder if there is none. */
export interface NodeSource {
  /** Its name in the table. */
  readonly label: string;
  /** Settings and environment of a Levee daemon that reads from here. */
  readonly settings: Readonly<Record<string, unknown>>;
  readonly env: Readonly<Record<string, string>>;
  addNetwork(name: string, conf: unknown): Promise<void>;
  /** Creates the pods that do not exist yet. */
  addPods(wishes: readonly PodWish[]): Promise<readonly FleetPod[]>;
  removePod(pod: PodKey): Promise<void>;
  stop(): Promise<void>;
}

/** The namespace of the networks. */
export const networkNamespace = "nets";
export const podNamespaces = ["storm", "vital", "other"] as const;
