import type { GuardSettings } from "../facts/guard-settings.ts";
import type { World } from "../facts/world.ts";
import { causeChainOf } from "./cause-chain.ts";
import { membersOf, type Cause, type Causes } from "./cause.ts";
import type { Runaway } from "./runaway.ts";

/**
 * The runaways that do not follow from a larger cause. A workload that cannot start because an avalanche has killed its
 * CNI daemon is an effect, and its recovery is part of that Decision.
 */
export function ownRunaways(
  { avalanches, runaways }: Causes,
  world: World,
  settings: GuardSettings,
): readonly Runaway[] {
  const own: Runaway[] = [];
  const followed = new Set<string>();
  const causes: Cause[] = [...avalanches];
  for (const runaway of runaways) {
    for (const cause of causes.splice(0)) noteFollowed(cause, world, settings, followed);
    if (membersOf(runaway).some(({ uid }) => followed.has(uid))) continue;
    own.push(runaway);
    causes.push(runaway);
  }
  return own;
}

function noteFollowed(cause: Cause, world: World, settings: GuardSettings, followed: Set<string>): void {
  for (const symptom of causeChainOf(cause, world, settings).linked)
    if (symptom.kind === "WorkloadStuck") for (const { uid } of symptom.workload.pods) followed.add(uid);
}
