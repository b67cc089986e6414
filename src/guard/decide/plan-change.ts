import type { Decision, DecisionSpec } from "../decision/decision.ts";
import { revisionCharsMax } from "../decision/limits.ts";
import { canonicalJson } from "../decision/plan-hash.ts";
import type { AskPersonStep, ScaleOwnerStep, Step, StepAction } from "../decision/step.ts";
import { membersMin } from "../detect/avalanche.ts";
import { foreignText } from "../detect/foreign-text.ts";
import { timeMs } from "../json-values.ts";

const minuteMs = 60_000;
/** A person has to read and approve a plan before it changes. It stands for a minute longer after each change, up to this. */
const minutesMax = 10;
/** A quota that differs by fewer pods still leaves the namespace its headroom. */
const quotaDriftMax = 10;
/** Jobs that a CronJob has made or that have ended since. */
const jobsDriftMax = 5;
/** Pods that were refused their name since, or no longer are. */
const podsDriftMax = 2;
/** These steps look at the cluster again when they run, so a new list of theirs is no reason for a new hash. */
const lookAgain: ReadonlySet<StepAction> = new Set<StepAction>(["ListStuck", "Verify"]);

/** Whether the plan has stood for long enough to be changed. */
export function mayChange({ metadata, spec: { revisions = [] } }: Decision, nowMs: number): boolean {
  const lastMs = timeMs(revisions.at(-1)?.at ?? metadata.creationTimestamp);
  return nowMs - lastMs >= Math.min(minutesMax, revisions.length + 1) * minuteMs;
}

/**
 * What makes the newer plan worth a new hash, in words; undefined when the old one still does. Pods count by the twenty,
 * as everywhere: one that comes or goes must not void what a person has just read.
 */
export function planChange(before: DecisionSpec, after: DecisionSpec): string | undefined {
  const changes = [podsChange(before, after), ...stepChanges(before, after)].filter((text) => text !== undefined);
  return changes.length === 0 ? undefined : foreignText(changes.join("; "), revisionCharsMax);
}

function podsChange(before: DecisionSpec, after: DecisionSpec): string | undefined {
  const [old, now] = [uidsOf(before), uidsOf(after)];
  const more = now.difference(old).size;
  const fewer = old.difference(now).size;
  if (more + fewer < membersMin) return undefined;
  const parts = [more === 0 ? "" : `${more} more pods`, fewer === 0 ? "" : `${fewer} are gone`];
  return `${parts.filter((part) => part !== "").join(", ")}, ${now.size} in all`;
}

function uidsOf({ steps }: DecisionSpec): Set<string> {
  return new Set(steps.flatMap((step) => (step.action === "RemovePods" ? step.targets.map(({ uid }) => uid) : [])));
}

function stepChanges(before: DecisionSpec, after: DecisionSpec): readonly string[] {
  const [old, now] = [before, after].map(({ steps }) => steps.filter(isCompared)) as [Step[], Step[]];
  const added = now.filter((step) => !old.some((one) => isSame(one, step)));
  // A restart whose workload has recovered is skipped when its turn comes.
  const dropped = old.filter((step) => !now.some((one) => isSame(one, step)) && !isRestart(step));
  const actions = new Set(dropped.map(({ action }) => action));
  const replaced = new Set(added.map(({ action }) => action));
  return [
    ...added.map(({ action, title }) => `${actions.has(action) ? "changed" : "new"}: ${title}`),
    ...dropped.filter(({ action }) => !replaced.has(action)).map(({ title }) => `no longer: ${title}`),
  ];
}

function isCompared({ action }: Step): boolean {
  return action !== "RemovePods" && !lookAgain.has(action);
}

function isRestart({ action }: Step): boolean {
  return action === "RestartWorkload";
}

function isSame(left: Step, right: Step): boolean {
  if (left.action === "StopSource" && right.action === "StopSource") {
    const [old, now] = [left.stopSource, right.stopSource];
    if (old.way === "Quota" && now.way === "Quota") return Math.abs(old.pods - now.pods) < quotaDriftMax;
  }
  if (left.action === "ScaleOwner" && right.action === "ScaleOwner") return isSameScale(left, right);
  if (left.action === "AskPerson" && right.action === "AskPerson") return isSameQuestion(left, right);
  return left.action === right.action && parametersOf(left) === parametersOf(right);
}

/** A few pods that start or Jobs that come do not make a plan wrong; another size or way does. */
function isSameScale({ scaleOwner: old }: ScaleOwnerStep, { scaleOwner: now }: ScaleOwnerStep): boolean {
  if (old.uid !== now.uid || old.way !== now.way) return false;
  if (old.way === "Scale" && now.way === "Scale")
    return old.from === now.from && Math.abs(old.to - now.to) < quotaDriftMax;
  const [before, after] = [old, now].map(
    (one) => new Set(one.way === "Suspend" ? one.jobs?.map(({ uid }) => uid) : []),
  );
  return (before?.symmetricDifference(after ?? new Set()).size ?? 0) < jobsDriftMax;
}

/** Texts and times may differ; what is asked about may not, but for a pod or two. */
function isSameQuestion({ askPerson: old }: AskPersonStep, { askPerson: now }: AskPersonStep): boolean {
  const [before, after] = [old, now].map(({ items }) => new Set(items.map(({ object, node }) => `${object} ${node}`)));
  const drift = before?.symmetricDifference(after ?? new Set()).size ?? 0;
  return old.about === now.about && drift <= (now.about === "SandboxNames" ? podsDriftMax : 0);
}

/** Only what decides what a step does: titles, lines and reasons for people follow from it. */
function parametersOf(step: Step): string {
  const { id: _id, title: _title, kubectl: _kubectl, preconditions: _rules, check: _check, ...rest } = step;
  return canonicalJson(rest);
}
