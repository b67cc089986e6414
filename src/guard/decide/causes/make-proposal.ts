import type { Decision, DecisionPurpose, DecisionSpec, Evidence } from "../../decision/decision.ts";
import { notesMax, revisionsMax, summaryCharsMax, textCharsMax } from "../../decision/limits.ts";
import { planHash } from "../../decision/plan-hash.ts";
import { causeText, type Cause } from "../../detect/cause.ts";
import type { CauseChain } from "../../detect/cause-chain.ts";
import { foreignText } from "../../detect/foreign-text.ts";
import type { GuardSettings } from "../../facts/guard-settings.ts";
import type { World } from "../../facts/world.ts";
import { timeText } from "../../json-values.ts";
import { planChange } from "../plan-change.ts";
import { shapeText } from "../shape-text.ts";
import { placeSteps, type StepDraft } from "../step-draft.ts";

/** A Decision to create, or a newer plan for one that nobody has approved. */
export interface Proposal {
  readonly name: string;
  readonly spec: DecisionSpec;
  /** The Decision that gets the plan; absent for a new one. */
  readonly replaces?: Decision;
}

export interface SeenCause<C extends Cause = Cause> {
  readonly cause: C;
  readonly chain: CauseChain;
  readonly world: World;
  readonly settings: GuardSettings;
}

export interface PlanContent {
  readonly purpose: DecisionPurpose;
  readonly drafts: readonly StepDraft[];
  readonly notes: readonly string[];
  /** Sentences without a full stop, after the one that names the cause. */
  readonly story: readonly string[];
  readonly evidence: readonly Evidence[];
}

/** Undefined when the Decision that it would replace still does. */
export function makeProposal(seen: SeenCause, content: PlanContent, replaces?: Decision): Proposal | undefined {
  const { cause, chain, world, settings } = seen;
  const { purpose, drafts, notes, story, evidence } = content;
  const name = replaces?.metadata.name ?? nextName(prefixOf(cause, purpose), world.decisions);
  const plan = {
    cause: cause.cause,
    purpose,
    subject: { namespace: cause.namespace, shape: shapeText(cause.shape) },
    steps: placeSteps(drafts, name, settings.namespace),
  } as const;
  const omitted = chain.omitted === 0 ? [] : [`${chain.omitted} more effects of the cause are not shown`];
  const [first = "", ...rest] = story;
  const sentences = [`${causeText(cause)}${first}`, ...rest, effectsText(chain)];
  const spec: DecisionSpec = {
    ...plan,
    summary: foreignText(`${sentences.join(". ")}.`, summaryCharsMax),
    evidence,
    chain: chain.edges,
    notes: [...notes, ...omitted, ...world.notes].slice(0, notesMax).map((note) => foreignText(note, textCharsMax)),
    planHash: planHash(plan),
  };
  return replaces === undefined ? { name, spec } : revised(replaces, spec, world.nowMs);
}

function effectsText({ edges }: CauseChain): string {
  return edges.length === 0 ? "It has no other known effects" : `${edges.length} known effects follow from it`;
}

/** The same Decision with a newer plan; undefined when the old one still does. */
export function revised(replaces: Decision, spec: DecisionSpec, nowMs: number): Proposal | undefined {
  const change = planChange(replaces.spec, spec);
  if (change === undefined) return undefined;
  const revision = { at: timeText(nowMs), planHash: replaces.spec.planHash, change };
  const revisions = [...(replaces.spec.revisions ?? []), revision].slice(-revisionsMax);
  return { name: replaces.metadata.name, spec: { ...spec, revisions }, replaces };
}

/** One above the highest number, so two guards that propose the same at once choose the same name. */
export function nextName(prefix: string, decisions: readonly Decision[]): string {
  const numbers = decisions
    .map(({ metadata }) => metadata.name)
    .filter((name) => name.startsWith(prefix) && /^\d{1,9}$/.test(name.slice(prefix.length)))
    .map((name) => Number(name.slice(prefix.length)));
  return `${prefix}${Math.max(0, ...numbers) + 1}`;
}

function prefixOf({ cause, namespace }: Cause, purpose: DecisionPurpose): string {
  if (cause === "ReservedSandboxNames") return "sandboxes-";
  if (cause === "RebootBacklog") return "reboots-";
  const verb = { StopSource: "stop", Recover: "recover", ByHand: "ask", LowerMemory: "lower" }[purpose];
  return `${verb}-${namespace}-`;
}
