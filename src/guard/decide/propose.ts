import type { StopSource } from "../decision/step.ts";
import { membersMin, type Avalanche } from "../detect/avalanche.ts";
import { causeChainOf } from "../detect/cause-chain.ts";
import { findCauses } from "../detect/cause.ts";
import { quotedText } from "../detect/foreign-text.ts";
import { ownRunaways } from "../detect/victims.ts";
import type { GuardSettings } from "../facts/guard-settings.ts";
import { timeText } from "../json-values.ts";
import type { World } from "../facts/world.ts";
import { makeProposal, type PlanContent, type Proposal, type SeenCause } from "./causes/make-proposal.ts";
import { otherProposal, type OtherCause } from "./causes/other-proposal.ts";
import { evidenceOf } from "./evidence.ts";
import { mayChange } from "./plan-change.ts";
import { ProposalRoom } from "./proposal-room.ts";
import { newTargets, recoverPlan } from "./recover-plan.ts";
import { standingOf, type Standing } from "./standing.ts";
import { cameAnyway, stopNotes, stopStep, stopWay } from "./stop-step.ts";

/**
 * Every Decision that the cluster needs and that was not proposed yet. There is one for each cause: while nobody has
 * approved it, its plan follows the facts, and what is new after that goes into one more. Pure.
 */
export function propose(world: World, settings: GuardSettings): readonly Proposal[] {
  const causes = findCauses(world, settings);
  const { avalanches, reserved, reboots } = causes;
  const runaways = ownRunaways(causes, world, settings);
  const about: readonly OtherCause[] = [...runaways, ...[reserved, reboots].filter((one) => one !== undefined)];
  const bySize = [...avalanches, ...runaways].toSorted((left, right) => right.members.length - left.members.length);
  const room = new ProposalRoom([...bySize, ...about.filter((one) => one.cause !== "RunawayWorkload")], world);
  const proposals = new Map<string, Proposal>();
  for (const cause of [...avalanches, ...about]) {
    const free = room.roomFor(cause);
    const wanted =
      cause.cause === "OwnerlessPodAvalanche"
        ? proposalsFor(cause, world, settings, free > 0)
        : otherProposal(cause, world, settings, free > 0);
    const more = wanted.filter(({ name }) => !proposals.has(name));
    const isNewer = ({ replaces }: Proposal): boolean => replaces !== undefined;
    const fresh = more.filter((proposal) => !isNewer(proposal)).slice(0, free);
    // A newer plan takes no room.
    for (const proposal of [...more.filter(isNewer), ...fresh]) proposals.set(proposal.name, proposal);
    room.take(fresh.length);
  }
  return [...proposals.values()];
}

/** Two Decisions, because stopping the source is harmless and does not have to wait for the rest. */
function proposalsFor(
  avalanche: Avalanche,
  world: World,
  settings: GuardSettings,
  hasRoom: boolean,
): readonly Proposal[] {
  const standing = standingOf(avalanche, world);
  const { way, isRecovery } = wantedNow(avalanche, standing, world, hasRoom);
  // Skip the costly search for effects when there is nothing new to propose.
  if (way === undefined && !isRecovery) return [];
  const chain = causeChainOf(avalanche, world, settings);
  const seen = { cause: avalanche, chain, world, settings };
  const { stop, recover } = standing.open;
  const proposals: (Proposal | undefined)[] = [];
  if (way !== undefined) {
    const drafts = [stopStep(way, avalanche, world)];
    const notes = stopNotes(way, avalanche.namespace);
    proposals.push(makeProposal(seen, { ...told(seen), purpose: "StopSource", drafts, notes }, stop));
  }
  const plan = isRecovery ? recoverPlan({ avalanche, chain, world, settings, standing }) : undefined;
  if (plan !== undefined)
    proposals.push(
      makeProposal(seen, { ...told(seen), purpose: "Recover", drafts: plan.steps, notes: plan.notes }, recover),
    );
  return proposals.filter((one) => one !== undefined);
}

interface Wanted {
  /** How the source should be stopped; undefined when that is asked or done, or when its plan has to stand for now. */
  readonly way: StopSource["way"] | undefined;
  readonly isRecovery: boolean;
}

function wantedNow(avalanche: Avalanche, standing: Standing, world: World, hasRoom: boolean): Wanted {
  const { stop, recover } = standing.open;
  const isAsked = cameAnyway(avalanche, world) > 0 ? standing.isQuotaAsked : standing.isStopAsked;
  const isStopDue = stop === undefined ? hasRoom && !isAsked : mayChange(stop, world.nowMs);
  const isRecoveryDue = recover === undefined ? hasRoom : mayChange(recover, world.nowMs);
  return {
    way: isStopDue ? stopWay(avalanche, world) : undefined,
    isRecovery: isRecoveryDue && newTargets(avalanche, standing).length >= membersMin,
  };
}

/** The story of an avalanche and its numbers. */
function told(seen: SeenCause<Avalanche>): Pick<PlanContent, "story" | "evidence"> {
  const { clientSays, sinceMs, recent, nodes, members, namespace, shape } = seen.cause;
  const client =
    clientSays === "" ? "their client gives no name" : `their client calls itself ${quotedText(clientSays)}`;
  return {
    story: [
      `: no controller will ever delete them, and kubelet keeps asking for their network on ${nodes.size === 1 ? "one node" : `${nodes.size} nodes`}`,
      `The oldest was created at ${timeText(sinceMs)}; ${growthText(recent)}; ${client}`,
    ],
    evidence: evidenceOf(
      [
        ["ownerless pods that do not start", members.length, `in ${namespace}, shape ${shape}`],
        ["of these, created in the last half hour", recent],
      ],
      seen,
    ),
  };
}

function growthText(recent: number): string {
  return recent === 0 ? "none was created in the last half hour" : `${recent} were created in the last half hour`;
}
