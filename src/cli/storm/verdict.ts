import { messageKind } from "../terminal/message-kind.ts";
import { tookText } from "../terminal/span.ts";
import type { PodProgress } from "./fleet.ts";
import { leakTexts, type Traces } from "./traces.ts";
import type { StormPlan } from "./plan.ts";
import type { Moment, ShimPeak } from "./series.ts";
import { site } from "./site.ts";

/** The measurements of one storm. */
export interface StormFacts {
  readonly plan: StormPlan;
  readonly records: readonly PodProgress[];
  readonly moments: readonly Moment[];
  readonly shims: ShimPeak;
  readonly peakBytes: number;
  readonly oomKills: number;
  readonly restarts: number;
  /** How the daemon ended, each time it should not have. */
  readonly ends: readonly string[];
  /** While all pods were attached. */
  readonly attachedTraces: Traces;
  /** After all were deleted. */
  readonly deletedTraces: Traces;
  /** Until every DEL was answered. */
  readonly deleteMs: number;
  /** Until nothing was left, or the wait was over: some DELs are answered first and carried out later. */
  readonly tidyMs: number;
  readonly notDeleted: number;
}

/** How long one namespace's pods waited. */
export interface Waits {
  readonly pods: number;
  readonly attached: number;
  /** Of the attached pods; undefined if there are none. */
  readonly medianMs: number | undefined;
  readonly maxMs: number | undefined;
}

/** One storm, judged. */
export interface StormRun extends StormFacts {
  readonly burst: Waits;
  readonly second: Waits;
  /** From the start until the last pod was attached; undefined if one never was. */
  readonly tookMs: number | undefined;
  readonly failedAdds: number;
  /** The most frequent errors, with counts. */
  readonly errors: readonly { readonly message: string; readonly count: number }[];
  /** Without the file cache that the kernel can drop at once. */
  readonly peakWorkingBytes: number;
  readonly peakAnonBytes: number;
  /** While pods were attached, without the daemon's start. */
  readonly daemonCpuMs: number;
  /** What did not hold; empty if the node holds this storm. */
  readonly broken: readonly string[];
}

export function judgeStorm(facts: StormFacts): StormRun {
  const second = waitsOf(facts, site.namespaces.second);
  const burst = waitsOf(facts, site.namespaces.burst);
  const isComplete = burst.attached === burst.pods;
  return {
    ...facts,
    burst,
    second,
    tookMs: isComplete ? burst.maxMs : undefined,
    failedAdds: facts.records.reduce((sum, { errors }) => sum + errors.length, 0),
    errors: topErrors(facts.records),
    peakWorkingBytes: largest(facts.moments.map(({ workingBytes }) => workingBytes)),
    peakAnonBytes: largest(facts.moments.map(({ anonBytes }) => anonBytes)),
    daemonCpuMs: (facts.moments.at(-1)?.cpuMs ?? 0) - (facts.moments[0]?.cpuMs ?? 0),
    broken: brokenTexts(facts, burst, second),
  };
}

function brokenTexts(facts: StormFacts, burst: Waits, second: Waits): readonly string[] {
  const { plan } = facts;
  const withinText = tookText(plan.timeoutMs);
  return [
    ...said(
      burst.attached < burst.pods,
      `${burst.pods - burst.attached} of ${burst.pods} pods were not attached within ${withinText}`,
    ),
    ...said(
      second.attached < second.pods,
      `${second.pods - second.attached} of ${second.pods} pods of the second namespace were not attached within ${withinText}`,
    ),
    ...said(
      second.maxMs !== undefined && second.maxMs > plan.second.withinMs,
      `a pod of the second namespace waited ${tookText(second.maxMs ?? 0)}, longer than ${tookText(plan.second.withinMs)}`,
    ),
    ...said(
      facts.oomKills > 0,
      `the kernel killed ${facts.oomKills} time${facts.oomKills === 1 ? "" : "s"} for memory`,
    ),
    ...said(
      facts.ends.length > 0,
      `the daemon ended ${facts.ends.length} time${facts.ends.length === 1 ? "" : "s"} (${facts.ends[0] ?? ""})`,
    ),
    ...said(facts.notDeleted > 0, `${facts.notDeleted} pods could not be deleted`),
    ...missingTexts(facts, burst, second),
    ...leakTexts(facts.deletedTraces).map((text) => `left behind: ${text}`),
  ];
}

/** A plugin may report success without making an interface. */
function missingTexts({ plan, attachedTraces }: StormFacts, burst: Waits, second: Waits): readonly string[] {
  const attached = burst.attached + second.attached;
  const wanted = attached * (plan.delegates.length === 0 ? 2 : plan.delegates.length);
  const { interfaces } = attachedTraces;
  return said(interfaces < wanted, `${attached} attached pods had ${interfaces} interfaces, not ${wanted}`);
}

function largest(values: readonly number[]): number {
  return values.reduce((left, right) => Math.max(left, right), 0);
}

function said(isSo: boolean, text: string): readonly string[] {
  return isSo ? [text] : [];
}

function waitsOf({ plan, records }: StormFacts, namespace: string): Waits {
  const waits = waitsMs(records, namespace);
  return {
    pods: namespace === site.namespaces.second ? plan.second.pods : plan.pods,
    attached: waits.length,
    medianMs: waits[Math.floor((waits.length - 1) / 2)],
    maxMs: waits.at(-1),
  };
}

/** From arrival to attachment, in order of length. */
export function waitsMs(records: readonly PodProgress[], namespace: string): readonly number[] {
  return records
    .filter(({ pod }) => pod.namespace === namespace)
    .flatMap(({ attachedMs, arrivedMs }) => (attachedMs === undefined ? [] : [attachedMs - arrivedMs]))
    .toSorted((left, right) => left - right);
}

const errorsShown = 3;

function topErrors(records: readonly PodProgress[]): StormRun["errors"] {
  const kinds = new Map<string, { readonly message: string; count: number }>();
  for (const { message } of records.flatMap(({ errors, delErrors }) => [...errors, ...delErrors])) {
    // Messages of the same kind differ only in names and numbers, so one of each kind is shown.
    const kind = messageKind(message);
    const known = kinds.get(kind);
    if (known === undefined) kinds.set(kind, { message, count: 1 });
    else known.count += 1;
  }
  return [...kinds.values()].toSorted((left, right) => right.count - left.count).slice(0, errorsShown);
}
