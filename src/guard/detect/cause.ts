import type { GuardSettings } from "../facts/guard-settings.ts";
import type { World } from "../facts/world.ts";
import { findAvalanches, type Avalanche } from "./avalanche.ts";
import { findRebootBacklog, rebootText, type RebootBacklog } from "./reboot-backlog.ts";
import { findReservedNames, reservedText, type ReservedNames } from "./reserved-names.ts";
import { findRunaways, runawayText, type Runaway } from "./runaway.ts";

/** Everything that the guard proposes a Decision about. */
export type Cause = Avalanche | Runaway | ReservedNames | RebootBacklog;

/** Of each kind the largest first. No pod is a member of two. */
export interface Causes {
  readonly avalanches: readonly Avalanche[];
  readonly reserved: ReservedNames | undefined;
  readonly runaways: readonly Runaway[];
  readonly reboots: RebootBacklog | undefined;
}

/**
 * The order says which cause a pod belongs to: removing an avalanche frees the names of its sandboxes too, and a workload
 * whose pods cannot get their sandboxes does not run away.
 */
export function findCauses(world: World, settings: GuardSettings): Causes {
  const avalanches = findAvalanches(world.pods, world.nowMs, world.stuckAfterMs);
  const taken = new Set<string>();
  const take = (members: Avalanche["members"]): void => members.forEach(({ uid }) => taken.add(uid));
  for (const { members } of avalanches) take(members);
  const reserved = findReservedNames(world, settings, taken);
  take(reserved?.members ?? []);
  return { avalanches, reserved, runaways: findRunaways(world, settings, taken), reboots: findRebootBacklog(world) };
}

export function causeText(cause: Cause): string {
  switch (cause.cause) {
    case "OwnerlessPodAvalanche":
      return `${cause.members.length} ownerless pods of one template in ${cause.namespace} do not start`;
    case "RunawayWorkload":
      return runawayText(cause);
    case "ReservedSandboxNames":
      return reservedText(cause);
    case "RebootBacklog":
      return rebootText(cause);
  }
}

/** Its pods; a cause about nodes has none. */
export function membersOf(cause: Cause): Avalanche["members"] {
  return cause.cause === "RebootBacklog" ? [] : cause.members;
}
