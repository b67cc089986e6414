import type { Clock } from "../../base/clock.ts";
import type { GivenUp } from "../../base/given-up.ts";
import type { DaemonConfig } from "../../config/daemon-config.ts";
import type { Hand } from "../../hands/hand.ts";
import type { ChainCaller } from "../chains/chain-caller.ts";
import { HandShare } from "./hand-share.ts";

interface ResidentCallerNeeds {
  readonly clock: Clock;
  readonly config: Pick<DaemonConfig, "addDelegatesMs" | "addUndoMs">;
}

/** The resident hand in the place of a call's shim. The time of the plugins begins now. */
export function residentCaller(
  { hand, givenUp }: { readonly hand: Hand; readonly givenUp: GivenUp },
  { clock, config }: ResidentCallerNeeds,
): ChainCaller {
  const budgetMs = config.addDelegatesMs + config.addUndoMs;
  const endsMs = clock.monotonicMs() + budgetMs;
  return {
    hand: new HandShare(hand),
    givenUp,
    resumed: undefined,
    header: { budgetMs },
    remainingMs: () => endsMs - clock.monotonicMs(),
  };
}
