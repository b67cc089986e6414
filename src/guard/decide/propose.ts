import type { Decision, DecisionPurpose, DecisionSpec } from "../decision/decision.ts";
import { notesMax, summaryCharsMax, textCharsMax } from "../decision/limits.ts";
import { planHash } from "../decision/plan-hash.ts";
import { findAvalanches, membersMin, type Avalanche } from "../detect/avalanche.ts";
import { avalancheText, causeChainOf, type CauseChain } from "../detect/cause-chain.ts";
import { foreignText, quotedText } from "../detect/foreign-text.ts";
import type { GuardSettings } from "../facts/guard-settings.ts";
import { timeText } from "../json-values.ts";
import type { World } from "../facts/world.ts";
import { evidenceOf } from "./evidence.ts";
import { ProposalRoom } from "./proposal-room.ts";
import { newTargets, recoverPlan } from "./recover-plan.ts";
import { shapeText } from "./shape-text.ts";
import { standingOf } from "./standing.ts";
import { placeSteps, type StepDraft } from "./step-draft.ts";
import { cameAnyway, stopStep, stopWay } from "./stop-step.ts";

/** A Decision to create. */
export interface Proposal {
  readonly name: string;
  readonly spec: DecisionSpec;
}

/** Every Decision that the cluster needs and that was not proposed yet. Pure. */
export function propose(world: World, settings: GuardSettings): readonly Proposal[] {
  const avalanches = findAvalanches(world.pods, world.nowMs, world.stuckAfterMs);
  const room = new ProposalRoom(avalanches, world);
  const proposals = new Map<string, Proposal>();
  for (const avalanche of avalanches) {
    const free = room.roomFor(avalanche);
    if (free === 0) continue;
    const more = proposalsFor(avalanche, world, settings).filter(({ name }) => !proposals.has(name));
    for (const proposal of more.slice(0, free)) proposals.set(proposal.name, proposal);
    room.take(Math.min(free, more.length));
  }
  return [...proposals.values()];
}

/** Two Decisions, because stopping the source is harmless and does not have to wait for the rest. */
function proposalsFor(avalanche: Avalanche, world: World, settings: GuardSettings): readonly Proposal[] {
  const standing = standingOf(avalanche, world);
  const way = stopWay(avalanche, world);
  const isAsked = cameAnyway(avalanche, world) > 0 ? standing.isQuotaAsked : standing.isStopAsked;
  const isStopWanted = way !== undefined && !isAsked;
  // Skip the costly search for effects when there is nothing new to propose.
  if (!isStopWanted && newTargets(avalanche, standing).length < membersMin) return [];
  const chain = causeChainOf(avalanche, world, settings);
  const seen = { avalanche, chain, world };
  const proposals: Proposal[] = [];
  if (isStopWanted) {
    const drafts = [stopStep(way, avalanche, world)];
    const notes = way === "Label" ? labelNotes : quotaNotes;
    proposals.push(proposal(seen, settings, { purpose: "StopSource", drafts, notes }));
  }
  const plan = recoverPlan({ avalanche, chain, world, settings, standing });
  if (plan !== undefined)
    proposals.push(proposal(seen, settings, { purpose: "Recover", drafts: plan.steps, notes: plan.notes }));
  return proposals;
}

const quotaNotes = [
  "Existing pods are not touched. Above the limit, new pods are refused, with or without an owner and from any creator",
  "Delete the quota when the source is repaired: kubectl -n NAMESPACE delete quota levee-ownerless-pods",
];

const labelNotes = [
  "Existing pods are not touched, and pods with an owner are not refused",
  "The policy demands owners only from service accounts outside of kube-system; pods that a person creates are not refused",
];

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

function proposal(seen: Seen, settings: GuardSettings, { purpose, drafts, notes }: Content): Proposal {
  const { avalanche, chain, world } = seen;
  const name = nextName(purpose, avalanche.namespace, world.decisions);
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
  return { name, spec };
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
