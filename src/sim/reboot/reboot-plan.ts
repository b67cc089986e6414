import type { ClusterAct, GuardFault } from "../guard/guard-story.ts";
import type { RebootSettings } from "../guard/reboot-settings.ts";

/** A node that gets its mark at this time. */
export interface DueNode {
  readonly node: string;
  readonly atMs: number;
}

/** All that happens to a fleet whose nodes need a reboot. Times count from the start, when the guards already lead. */
export interface RebootPlan {
  readonly title: string;
  readonly seed: number;
  readonly nodes: readonly string[];
  /** In the order of their times. */
  readonly due: readonly DueNode[];
  /** Replicas. */
  readonly guards: number;
  readonly settings: RebootSettings;
  /** The time of day at the start. */
  readonly startWallMs: number;
  readonly acts: readonly ClusterAct[];
  readonly faults: readonly GuardFault[];
  /** From a node's mark until the node is back. */
  readonly withinMs: number;
}
