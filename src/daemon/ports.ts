import type { DetachBreaker } from "./detach-breaker.ts";
import type { NodePorts } from "./node-ports.ts";
import type { Permits } from "./permits.ts";
import type { Recovery } from "./recovery.ts";
import type { SharedDeletes } from "./shared-deletes.ts";

/** What every verb works with. */
export interface Ports extends NodePorts {
  readonly attachPermits: Permits;
  readonly detachPermits: Permits;
  readonly deletes: SharedDeletes;
  readonly detachBreaker: DetachBreaker;
  readonly recovery: Recovery;
}
