import type { SimApiLoad } from "../storm/sim-storm-end.ts";
import type { RebootPlan } from "./reboot-plan.ts";

/** One node's way to its reboot. Times are milliseconds since the start. */
export interface RebootRecord {
  readonly node: string;
  readonly dueMs: number;
  /** When its gate first allowed the reboot. */
  allowedMs: number | undefined;
  rebootedMs: number | undefined;
  backMs: number | undefined;
  /** How long each reason kept it waiting, by the reason's code. Several may count at the same time. */
  readonly heldMs: Map<string, number>;
}

/** The fleet at one moment. */
export interface RebootMoment {
  readonly atMs: number;
  /** Nodes that wait for their reboot. */
  readonly waiting: number;
  readonly away: number;
  readonly back: number;
  /** Of guards and daemons to the API server, so far. */
  readonly requests: number;
  /** How many of the waiting nodes each reason holds. */
  readonly held: ReadonlyMap<string, number>;
}

/** What happened to the fleet. */
export interface RebootEnd {
  readonly plan: RebootPlan;
  readonly records: readonly RebootRecord[];
  readonly moments: readonly RebootMoment[];
  /** How long each reason held at least one node. */
  readonly closedMs: ReadonlyMap<string, number>;
  /** The most nodes that were away for their reboot at the same time. */
  readonly awayMax: number;
  /** How often a guard took the lead, the first one included. */
  readonly leads: number;
  readonly api: SimApiLoad;
  /** Whether somebody ended it early. */
  readonly isInterrupted: boolean;
  readonly simulatedMs: number;
  readonly steps: number;
  /** Of all that happened. The same plan and program give the same one. */
  readonly hash: string;
  /** What did not hold. */
  readonly broken: readonly string[];
}
