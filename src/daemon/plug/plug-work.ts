import type { GivenUp } from "../../base/given-up.ts";
import type { Hand } from "../../hands/hand.ts";
import type { ChainReports } from "../chains/chain-reports.ts";
import type { NetnsNow } from "../undo/netns-to-pass.ts";

/** One change of one running pod's networks, and the hand that carries it out. */
export interface PlugWork {
  readonly token: string;
  readonly hand: Hand;
  readonly now: NetnsNow;
  /** Set when the pod ends or the runtime deletes the container: then their own undo does the rest. */
  readonly givenUp: GivenUp;
  /** Tells the permit. */
  readonly reports: ChainReports;
  /** How often the detachment has been tried. */
  readonly attempts: number;
}
