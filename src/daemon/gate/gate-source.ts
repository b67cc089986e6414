import type { PodFacts } from "../../view/pod-facts.ts";
import type { RebootGate } from "../../wire/reboot-gate.ts";

/** Where the daemon reads the verdict about its node, and the pods of its own that bear the gate's label. */
export interface GateSource {
  /** Undefined when there is none, or none that can be understood. Rejects with a `KubeError`. */
  read(): Promise<RebootGate | undefined>;
  /** Pods of Levee on this node whose label was taken away. */
  openPods(): readonly PodFacts[];
  /** Puts the label back. */
  close(pod: PodFacts): Promise<void>;
}
