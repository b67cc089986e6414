import { causeChainOf } from "../../detect/cause-chain.ts";
import type { RebootBacklog } from "../../detect/reboot-backlog.ts";
import type { ReservedNames } from "../../detect/reserved-names.ts";
import type { Runaway } from "../../detect/runaway.ts";
import type { GuardSettings } from "../../facts/guard-settings.ts";
import type { World } from "../../facts/world.ts";
import { mayChange } from "../plan-change.ts";
import { causeStanding } from "./cause-standing.ts";
import { makeProposal, type PlanContent, type Proposal, type SeenCause } from "./make-proposal.ts";
import { rebootPlan } from "./reboot-plan.ts";
import { reservedPlan } from "./reserved-plan.ts";
import { runawayPlan } from "./runaway-plan.ts";

/** A cause with one Decision at a time. */
export type OtherCause = Runaway | ReservedNames | RebootBacklog;

/** Its Decision, or the newer plan of the one that waits; empty when there is nothing new to say. */
export function otherProposal(
  cause: OtherCause,
  world: World,
  settings: GuardSettings,
  hasRoom: boolean,
): readonly Proposal[] {
  const { open, isAnswered } = causeStanding(cause, world);
  const isDue = open === undefined ? hasRoom && !isAnswered : mayChange(open, world.nowMs);
  if (!isDue) return [];
  const seen = { cause, chain: causeChainOf(cause, world, settings), world, settings };
  const content = contentOf(seen);
  // A plan of another purpose is another Decision; `isCausePresent` ends the one that waits.
  if (content === undefined || (open !== undefined && open.spec.purpose !== content.purpose)) return [];
  const proposal = makeProposal(seen, content, open);
  return proposal === undefined ? [] : [proposal];
}

function contentOf({ cause, ...rest }: SeenCause<OtherCause>): PlanContent | undefined {
  switch (cause.cause) {
    case "RunawayWorkload":
      return runawayPlan({ cause, ...rest });
    case "ReservedSandboxNames":
      return reservedPlan({ cause, ...rest });
    case "RebootBacklog":
      return rebootPlan({ cause, ...rest });
  }
}
