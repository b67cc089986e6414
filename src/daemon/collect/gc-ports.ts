import type { DetachBreaker } from "./undo-breaker.ts";
import type { NodePorts } from "../node-ports.ts";
import type { Recovery } from "../undo/recovery.ts";

/** What garbage collection works with, whether the runtime asks for it or we drive it ourselves. */
export interface GcPorts extends NodePorts {
  readonly detachBreaker: DetachBreaker;
  readonly recovery: Recovery;
}
