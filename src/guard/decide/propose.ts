import type { Decision, DecisionPurpose, DecisionSpec } from "../decision/decision.ts";
import { notesMax, revisionsMax, summaryCharsMax, textCharsMax } from "../decision/limits.ts";
import { planHash } from "../decision/plan-hash.ts";
import type { StopSource } from "../decision/step.ts";
import { findAvalanches, membersMin, type Avalanche } from "../detect/avalanche.ts";
import { avalancheText, causeChainOf, type CauseChain } from "../detect/cause-chain.ts";
import { foreignText, quotedText } from "../detect/foreign-text.ts";
import type { GuardSettings } from "../facts/guard-settings.ts";
import { timeText } from "../json-values.ts";
import type { World } from "../facts/world.ts";
import { evidenceOf } from "./evidence.ts";
import { mayChange, planChange } from "./plan-change.ts";
import { ProposalRoom } from "./proposal-room.ts";
import { newTargets, recoverPlan } from "./recover-plan.ts";
import { shapeText } from "./shape-text.ts";
import { standingOf, type Standing } from "./standing.ts";
import { placeSteps, type StepDraft } from "./step-draft.ts";
import { cameAnyway, stopNotes, stopStep, stopWay } from "./stop-step.ts";

/** A Decision to create, or a newer plan for one that nobody has approved. */
export interface Proposal {
  readonly name: string;
  readonly spec: DecisionSpec;
  /** The Decision that gets the plan; absent for a new one. */
  readonly replaces?: Decision;
}

/**
 * Every Decision that the cluster needs and that was not proposed yet. There is one for each cause: while nobody has
 * approved it, its plan follows the facts, and what is new after that goes into one more. Pure.
 */
export function propose(world: World, settings: GuardSettings): readonly Proposal[] {
  const avalanches = findAvalanches(world.pods, world.nowMs, world.stuckAfterMs);
  const room = new ProposalRoom(avalanches, world);
  const proposals = new Map<string, Proposal>();
  for (const avalanche of avalanches) {
    const free = room.roomFor(avalanche);
    const more = proposalsFor(avalanche, world, settings, free > 0).filter(({ name }) => !proposals.has(name));
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
  const seen = { avalanche, chain, world };
  const { stop, recover } = standing.open;
  const proposals: (Proposal | undefined)[] = [];
  if (way !== undefined) {
    const drafts = [stopStep(way, avalanche, world)];
    const notes = stopNotes(way, avalanche.namespace);
    proposals.push(proposal(seen, settings, { purpose: "StopSource", drafts, notes }, stop));
  }
  const plan = isRecovery ? recoverPlan({ avalanche, chain, world, settings, standing }) : undefined;
  if (plan !== undefined)
    proposals.push(proposal(seen, settings, { purpose: "Recover", drafts: plan.steps, notes: plan.notes }, recover));
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

interface Seen {
  readonly avalanche: Avalanche;
  readonly chain: CauseChain;
  readonly world: World;
}

interface Content {
  readonly purpose: DecisionPurpose;
  readonly drafts: readonly StepDraft[];
  readonly notes: readonly string[];
}

/** Undefined when the Decision that it would replace still does. */
function proposal(
  seen: Seen,
  settings: GuardSettings,
  { purpose, drafts, notes }: Content,
  replaces?: Decision,
): Proposal | undefined {
  const { avalanche, chain, world } = seen;
  const name = replaces?.metadata.name ?? nextName(purpose, avalanche.namespace, world.decisions);
  const plan = {
    cause: "OwnerlessPodAvalanche",
    purpose,
    subject: { namespace: avalanche.namespace, shape: shapeText(avalanche.shape) },
    steps: placeSteps(drafts, name, settings.namespace),
  } as const;
  const omitted = chain.omitted === 0 ? [] : [`${chain.omitted} more effects of the cause are not shown`];
  const spec: DecisionSpec = {
    ...plan,
    summary: summaryOf(seen),
    evidence: evidenceOf(seen),
    chain: chain.edges,
    notes: [...notes, ...omitted, ...world.notes].slice(0, notesMax).map((note) => foreignText(note, textCharsMax)),
    planHash: planHash(plan),
  };
  return replaces === undefined ? { name, spec } : revised(replaces, spec, world.nowMs);
}

function revised(replaces: Decision, spec: DecisionSpec, nowMs: number): Proposal | undefined {
  const change = planChange(replaces.spec, spec);
  if (change === undefined) return undefined;
  const revision = { at: timeText(nowMs), planHash: replaces.spec.planHash, change };
  const revisions = [...(replaces.spec.revisions ?? []), revision].slice(-revisionsMax);
  return { name: replaces.metadata.name, spec: { ...spec, revisions }, replaces };
}

/** One above the highest number, so two guards that propose the same at once choose the same name. */
function nextName(purpose: DecisionPurpose, namespace: string, decisions: readonly Decision[]): string {
  const prefix = `${purpose === "StopSource" ? "stop" : "recover"}-${namespace}-`;
  const numbers = decisions
    .map(({ metadata }) => metadata.name)
    .filter((name) => name.startsWith(prefix) && /^\d{1,9}$/.test(name.slice(prefix.length)))
    .map((name) => Number(name.slice(prefix.length)));
  return `${prefix}${Math.max(0, ...numbers) + 1}`;
}

function summaryOf({ avalanche, chain }: Seen): string {
  const { clientSays, sinceMs, recent, nodes } = avalanche;
  const client =
    clientSays === "" ? "their client gives no name" : `their client calls itself ${quotedText(clientSays)}`;
  const growth =
    recent === 0 ? "none was created in the last half hour" : `${recent} were created in the last half hour`;
  const sentences = [
    `${avalancheText(avalanche)}: no controller will ever delete them, and kubelet keeps asking for their network on ${nodes.size} nodes`,
    `The oldest was created at ${timeText(sinceMs)}; ${growth}; ${client}`,
    chain.edges.length === 0 ? "It has no other known effects" : `${chain.edges.length} known effects follow from it`,
  ];
  return foreignText(`${sentences.join(". ")}.`, summaryCharsMax);
}
