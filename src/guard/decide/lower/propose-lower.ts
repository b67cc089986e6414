import { terminalPhases, type Decision, type DecisionSpec, type Evidence } from "../../decision/decision.ts";
import { notesMax, summaryCharsMax, textCharsMax } from "../../decision/limits.ts";
import { planHash } from "../../decision/plan-hash.ts";
import { foreignText } from "../../detect/foreign-text.ts";
import type { GuardSettings } from "../../facts/guard-settings.ts";
import type { World } from "../../facts/world.ts";
import { timeMs, timeText } from "../../json-values.ts";
import { nextName, revised, type Proposal } from "../causes/make-proposal.ts";
import { changeParts } from "../memory-parts.ts";
import { mayChange } from "../plan-change.ts";
import { endedDecisionsMax } from "../proposal-room.ts";
import { decisionPhase } from "../standing.ts";
import { placeSteps } from "../step-draft.ts";
import { lowerChange, type LowerChange } from "./lower-change.ts";
import { lowerVerify } from "./lower-verify.ts";
import { watchedNow, type Watched } from "./memory-calm.ts";

/** There is no hurry, and a Decision that ends without an answer must not come back every ten seconds. */
const againMs = 86_400_000;

/**
 * The way back from a raise: a Decision that lowers the memory of a CNI daemon again, once it has been calm for long
 * enough. One at a time, and none while another Decision is open: that one is about trouble.
 */
export function proposeLower(world: World, settings: GuardSettings): readonly Proposal[] {
  for (const watched of watchedNow(world, settings)) {
    const change = lowerChange(watched, world, settings);
    if (change === undefined) continue;
    const open = openAbout(watched, world.decisions);
    if (open === undefined ? !isFree(watched, change, world) : !mayChange(open, world.nowMs)) continue;
    const proposal = proposalOf({ watched, change, world, settings }, open);
    if (proposal !== undefined) return [proposal];
  }
  return [];
}

/** Whether a proposal that nobody has approved yet still stands. It stands too while nothing is known. */
export function isStillCalm(decision: Decision, world: World, settings: GuardSettings): boolean {
  if (world.memoryCalms === undefined) return true;
  const watched = watchedNow(world, settings).find((one) => shapeOf(one) === decision.spec.subject.shape);
  if (watched === undefined) return false;
  const isSame = decision.spec.steps.some(
    (step) =>
      step.action === "SetMemoryLimit" &&
      step.setMemoryLimit.uid === watched.daemonSet.uid &&
      step.setMemoryLimit.oldLimit === watched.limit,
  );
  return isSame && lowerChange(watched, world, settings) !== undefined;
}

function shapeOf({ daemonSet, container }: Watched): string {
  return `DaemonSet/${daemonSet.name}/${container}`;
}

function isAbout({ spec }: Decision, watched: Watched): boolean {
  const { namespace, shape } = spec.subject;
  const isIt = namespace === watched.daemonSet.namespace && shape === shapeOf(watched);
  return spec.purpose === "LowerMemory" && isIt;
}

function openAbout(watched: Watched, decisions: readonly Decision[]): Decision | undefined {
  return decisions.find((decision) => isAbout(decision, watched) && decisionPhase(decision) === "Proposed");
}

function isFree(watched: Watched, { mark }: LowerChange, { decisions, nowMs }: World): boolean {
  const open = decisions.filter((decision) => !terminalPhases.has(decisionPhase(decision)));
  if (open.length > 0 || decisions.length >= endedDecisionsMax) return false;
  return !decisions.some((decision) => {
    if (!isAbout(decision, watched)) return false;
    const madeMs = timeMs(decision.metadata.creationTimestamp);
    // A no stands until the guard raises the memory again.
    const isAnswered = decisionPhase(decision) === "Rejected" && madeMs >= timeMs(mark.at);
    return isAnswered || nowMs - madeMs < againMs;
  });
}

interface Seen {
  readonly watched: Watched;
  readonly change: LowerChange;
  readonly world: World;
  readonly settings: GuardSettings;
}

/** Undefined when a person could not hold its owners, or when the proposal that it would replace still does. */
function proposalOf({ watched, change, world, settings }: Seen, replaces: Decision | undefined): Proposal | undefined {
  const { namespace } = watched.daemonSet;
  const { holds, changes, locks, notes } = changeParts(change, world);
  if (changes.length === 0) return undefined;
  const name = replaces?.metadata.name ?? nextName(`lower-${namespace}-`, world.decisions);
  const drafts = [...holds, ...changes, ...locks, lowerVerify(change, world, settings)];
  const plan = {
    cause: "MemoryNoLongerNeeded",
    purpose: "LowerMemory",
    subject: { namespace, shape: shapeOf(watched) },
    steps: placeSteps(drafts, name, settings.namespace),
  } as const;
  const spec: DecisionSpec = {
    ...plan,
    summary: foreignText(summaryOf(watched, change), summaryCharsMax),
    evidence: evidenceOf(watched, change, world),
    chain: [],
    notes: [...lowerNotes, ...notes].slice(0, notesMax).map((note) => foreignText(note, textCharsMax)),
    planHash: planHash(plan),
  };
  return replaces === undefined ? { name, spec } : revised(replaces, spec, world.nowMs);
}

const lowerNotes = [
  "Nothing is broken: this can wait. Reject it to keep the memory as it is; the guard asks again only after another raise",
  "The daemon restarts on one node after the other, and less memory is left for the next storm. If it is killed or comes close to its limit, the Decision pauses; the last line of its first change sets the memory back",
];

function summaryOf({ daemonSet, container, limit }: Watched, { mark, calm, newLimit }: LowerChange): string {
  const what = `${container} of DaemonSet ${daemonSet.namespace}/${daemonSet.name}`;
  return [
    `The guard raised the memory of ${what} from ${mark.beforeLimit} to ${limit} by ${mark.at}`,
    `Since ${timeText(calm.sinceMs)} none of its pods was killed for memory or came close to the limit, and no backlog of pods was seen`,
    `${newLimit} would do`,
  ]
    .join(". ")
    .concat(".");
}

function evidenceOf(
  { daemonSet }: Watched,
  { calm, newLimit, container, mark }: LowerChange,
  { nowMs }: World,
): readonly Evidence[] {
  const at = timeText(nowMs);
  const one = (fact: string, value: number, detail: string): Evidence => ({
    fact,
    value,
    at,
    detail: foreignText(detail, textCharsMax),
  });
  return [
    one("hours without pressure", Math.floor((nowMs - calm.sinceMs) / 3_600_000), `since ${timeText(calm.sinceMs)}`),
    one("MiB that one pod used at most in that time", Math.ceil(calm.peakBytes / 2 ** 20), calm.peakNode),
    one(
      calm.isOfPrometheus === true ? "pods whose use Prometheus has for that time" : "pods that told what they use",
      daemonSet.desired,
      `the last time they all had was ${timeText(calm.coveredMs)}`,
    ),
    one("nodes with kills from before", Object.keys(calm.kills).length, Object.keys(calm.kills).slice(0, 5).join(", ")),
    one(
      "raises of the guard that it goes back on",
      1,
      `${mark.beforeLimit} before, ${container.memoryLimit} now, ${newLimit} proposed`,
    ),
  ];
}
