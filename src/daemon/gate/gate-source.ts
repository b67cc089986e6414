import type { PodFacts } from "../../view/pod-facts.ts";
import type { RebootGate } from "../../wire/reboot-gate.ts";

/** Where the daemon reads the verdict about its node, and the pods of its own that have the gate's label. */
export interface GateSource {
  /** Undefined when there is none, or none that can be understood. Rejects with a `KubeError`. */
  read(): Promise<RebootGate | undefined>;
  /** Pods of Levee on this node whose label lets it be rebooted, or that have lost it. */
  openPods(): readonly PodFacts[];
  /** Sets the label back to deny. */
  close(pod: PodFacts): Promise<void>;
}
