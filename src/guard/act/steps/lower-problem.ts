import { calmProblem } from "../../decide/lower/lower-change.ts";
import { calmKey, daemonPods, pressureShare, watchedNow, type Watched } from "../../decide/lower/memory-calm.ts";
import { memoryLine } from "../../decide/memory-change.ts";
import type { Decision } from "../../decision/decision.ts";
import type { SetMemoryLimitStep, VerifyCheck } from "../../decision/step.ts";
import type { GuardSettings } from "../../facts/guard-settings.ts";
import { memoryBytes, memoryText } from "../../facts/memory-quantity.ts";
import type { World } from "../../facts/world.ts";
import { timeMs, timeText } from "../../json-values.ts";
import type { StepContext } from "../step-runner.ts";

/** The highest use that was seen of a container whose memory may go down now, or why it may not. */
export function lowerFacts(
  { setMemoryLimit }: SetMemoryLimitStep,
  { world, settings }: Pick<StepContext, "world" | "settings">,
): { readonly seen: string } | { readonly problem: string } {
  const now = world();
  const { uid, container, newLimit } = setMemoryLimit;
  const watched = watchedNow(now, settings).find((one) => calmKey(one) === `${uid}/${container}`);
  if (watched === undefined)
    return { problem: "its memory is not as the guard has set it, so what it was before is not known" };
  const problem = calmProblem(watched, now, settings);
  if (problem !== undefined) return { problem };
  const peakBytes = now.memoryCalms?.find(({ key }) => key === calmKey(watched))?.peakBytes ?? 0;
  const newBytes = memoryBytes(newLimit) ?? 0;
  if (peakBytes > newBytes * pressureShare)
    return { problem: `one of its pods used ${upText(peakBytes)} since, too much for ${newLimit}` };
  return { seen: upText(peakBytes) };
}

type MemoryEnough = Extract<VerifyCheck, { readonly check: "MemoryEnough" }>;

/** Why the lower memory has not proved enough yet. */
export function enoughProblem(
  check: MemoryEnough,
  world: World,
  decision: Decision,
  settings: GuardSettings,
): string | undefined {
  const label = `${check.namespace}/${check.name}`;
  const change = changeOf(check, decision);
  const doneMs = timeMs(decision.status?.steps?.find(({ id }) => id === change?.id)?.at);
  const watched = watchedNow(world, settings).find(({ daemonSet }) => isNamed(daemonSet, check));
  if (change === undefined || doneMs === 0 || watched === undefined)
    return `${label}: it is not known when its memory was changed`;
  const untilMs = doneMs + check.forSeconds * 1_000;
  const silent = silentNodes(watched, doneMs);
  if (silent > 0) return `${label}: ${silent} of its pods have not told what they use since the change`;
  return world.nowMs < untilMs ? `${label}: it is watched until ${timeText(untilMs)}` : undefined;
}

/** What cannot get better by waiting: a kill, or a pod close to its limit; with the line that sets the memory back. */
export function notEnough(check: MemoryEnough, { world, decision, settings }: StepContext): string | undefined {
  const now = world();
  const change = changeOf(check, decision);
  if (change === undefined) return undefined;
  const why = killText(check, now, timeMs(decision.status?.startedAt)) ?? fullText(check, now, settings);
  if (why === undefined) return undefined;
  const { oldLimit, oldRequest, newRequest } = change.setMemoryLimit;
  const line = memoryLine(change.setMemoryLimit, oldLimit, oldRequest === newRequest ? undefined : oldRequest);
  return `${why}; to go up again: ${line}, then put it back in git and reject this Decision`;
}

function killText(check: MemoryEnough, world: World, sinceMs: number): string | undefined {
  const killed = daemonPods(check, world).find(({ oomKilledMs }) => oomKilledMs > sinceMs);
  return killed === undefined ? undefined : `${killed.name} on ${killed.node} was killed for memory`;
}

function fullText(check: MemoryEnough, world: World, settings: GuardSettings): string | undefined {
  const watched = watchedNow(world, settings).find(({ daemonSet }) => isNamed(daemonSet, check));
  const full = watched?.uses.find(({ usedBytes }) => usedBytes > watched.limitBytes * pressureShare);
  if (watched === undefined || full === undefined) return undefined;
  return `the daemon on ${full.node} uses ${upText(full.usedBytes)} of ${watched.limit}`;
}

function silentNodes({ pods, uses }: Watched, sinceMs: number): number {
  const told = new Set(uses.filter(({ atMs }) => atMs >= sinceMs).map(({ node }) => node));
  return pods.filter(({ node }) => !told.has(node)).length;
}

function changeOf(check: MemoryEnough, { spec }: Decision): SetMemoryLimitStep | undefined {
  return spec.steps.find(
    (step): step is SetMemoryLimitStep => step.action === "SetMemoryLimit" && isNamed(step.setMemoryLimit, check),
  );
}

interface Place {
  readonly namespace: string;
  readonly name: string;
}

function isNamed(one: Place, other: Place): boolean {
  return one.namespace === other.namespace && one.name === other.name;
}

/** Rounded up: the policy compares the new limit with it. */
function upText(bytes: number): string {
  return memoryText(Math.ceil(bytes / 2 ** 20) * 2 ** 20);
}
