import { workloadChecks } from "../../decide/verify-step.ts";
import type { Decision, FollowedWorkload } from "../../decision/decision.ts";
import { stuckWorkloadsMax } from "../../decision/limits.ts";
import type { VerifyCheck, VerifyStep } from "../../decision/step.ts";
import { findStuckWorkloads, type StuckWorkload } from "../../detect/stuck-workloads.ts";
import type { GuardSettings } from "../../facts/guard-settings.ts";
import type { World } from "../../facts/world.ts";
import { timeMs } from "../../json-values.ts";

/** Everything stuck but the CNI daemons, which have steps of their own. */
export function stuckWorkloads(world: World, { cniDaemons }: GuardSettings): readonly StuckWorkload[] {
  const ours = new Set(cniDaemons.map(({ namespace, daemonSet }) => `${namespace}/${daemonSet}`));
  return findStuckWorkloads(world).filter(({ namespace, name }) => !ours.has(`${namespace}/${name}`));
}

/**
 * Workloads that are stuck now, that nobody has written down yet and that no check of the plan names. A plan is frozen
 * before most victims fall. A workload whose pods were all bound before the cause began is not one of them. A workload that
 * runs away or a reserved name does not take the whole cluster along: there only what the plan names counts.
 */
export function newlyFallen(decision: Decision, world: World, settings: GuardSettings): readonly FollowedWorkload[] {
  const verify = decision.spec.steps.find((step): step is VerifyStep => step.action === "Verify");
  if (verify === undefined || decision.spec.cause !== "OwnerlessPodAvalanche") return [];
  const sinceMs = timeMs(verify.verify.since);
  const named = new Set(verify.verify.checks.map(checkKey));
  const written = followedBy(decision);
  const known = new Set(written.map(keyOf));
  return stuckWorkloads(world, settings)
    .filter(({ pods }) => pods.some(({ boundMs }) => boundMs >= sinceMs))
    .map(({ kind, namespace, name }) => ({ kind, namespace, name }))
    .filter((workload) => !known.has(keyOf(workload)) && !workloadChecks(workload).some(isIn(named)))
    .slice(0, Math.max(0, stuckWorkloadsMax - written.length));
}

/** What the steps so far have found. */
export function followedBy({ status }: Decision): readonly FollowedWorkload[] {
  return (status?.steps ?? []).flatMap(({ followed = [] }) => followed);
}

export function isStuckStill(workload: FollowedWorkload, world: World): boolean {
  return findStuckWorkloads(world).some((stuck) => keyOf(stuck) === keyOf(workload));
}

function keyOf({ kind, namespace, name }: FollowedWorkload): string {
  return `${kind} ${namespace}/${name}`;
}

function isIn(named: ReadonlySet<string>): (check: VerifyCheck) => boolean {
  return (check) => named.has(checkKey(check));
}

function checkKey(check: VerifyCheck): string {
  return "name" in check ? `${check.check} ${check.namespace}/${check.name}` : check.check;
}
