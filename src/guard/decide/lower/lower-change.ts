import { powerOfTwoFrom } from "../../../base/exact/decay.ts";
import type { GuardSettings } from "../../facts/guard-settings.ts";
import type { MemoryMark } from "../../facts/memory-mark.ts";
import { memoryBytes, memoryText } from "../../facts/memory-quantity.ts";
import type { MemoryCalm } from "../../facts/memory-calm.ts";
import type { ContainerFacts, World } from "../../facts/world.ts";
import { timeText } from "../../json-values.ts";
import type { MemoryChange } from "../memory-change.ts";
import { calmKey, gapMaxMs, type Watched } from "./memory-calm.ts";

const dayMs = 86_400_000;
/** The load of a site changes with the day and the day of the week. */
export const calmForMs = 7 * dayMs;
/** The use is seen once a minute, and a short peak between two looks is not. */
const margin = 1.5;
/** Less than this is not worth a restart of the daemon on every node. */
const worthShare = 0.75;
/** Of the limit, as for a raise. */
const requestShare = 0.5;

/** A container that no longer needs what the guard gave it. */
export interface LowerChange extends MemoryChange {
  readonly mark: MemoryMark;
  readonly calm: MemoryCalm;
}

/** Why the memory must stay as it is for now; undefined when it was calm for long enough. */
export function calmProblem(watched: Watched, world: World, settings: GuardSettings): string | undefined {
  const calm = world.memoryCalms?.find(({ key }) => key === calmKey(watched));
  if (calm === undefined || calm.limit !== watched.limit) return "it is not known how calm it was";
  if (world.nowMs - calm.coveredMs > gapMaxMs) return "it is not known what every pod of it uses";
  const { calmForMs: neededMs = calmForMs } = settings;
  if (world.nowMs - calm.sinceMs >= neededMs) return undefined;
  const why = calm.broken === "" ? "" : ` (before: ${calm.broken})`;
  return `it has been calm since ${timeText(calm.sinceMs)} only${why}`;
}

/** The lower limit of a container that has been calm, by the highest use that was seen; undefined when it must stay. */
export function lowerChange(watched: Watched, world: World, settings: GuardSettings): LowerChange | undefined {
  const { daemonSet, limitBytes } = watched;
  const calm = world.memoryCalms?.find(({ key }) => key === calmKey(watched));
  const mark = daemonSet.memoryMarks?.[watched.container];
  const container = daemonSet.containers.find(({ name }) => name === watched.container);
  if (calm === undefined || mark === undefined || container === undefined) return undefined;
  if (calm.peakBytes === 0 || calmProblem(watched, world, settings) !== undefined) return undefined;
  const newLimit = newLimitOf(calm.peakBytes, mark);
  const newBytes = memoryBytes(newLimit) ?? Number.POSITIVE_INFINITY;
  if (newBytes > limitBytes * worthShare) return undefined;
  const newRequest = newRequestOf(mark, container, newBytes);
  return { daemonSet, container, newLimit, newRequest, reasons: [sumText(calm, mark, newLimit, world)], mark, calm };
}

/** A power of two, as for a raise, and never below what it was before. */
function newLimitOf(peakBytes: number, { beforeLimit }: MemoryMark): string {
  const floorBytes = memoryBytes(beforeLimit) ?? Number.POSITIVE_INFINITY;
  const newBytes = powerOfTwoFrom(peakBytes * margin);
  return newBytes > floorBytes ? memoryText(newBytes) : beforeLimit;
}

/** As a raise would choose it, and never below what it was before. */
function newRequestOf({ beforeRequest }: MemoryMark, { memoryRequest }: ContainerFacts, limitBytes: number): string {
  const [before, now] = [memoryBytes(beforeRequest), memoryBytes(memoryRequest)];
  if (before === undefined || now === undefined) return memoryRequest;
  const newBytes = Math.max(before, limitBytes * requestShare);
  if (newBytes >= now) return memoryRequest;
  return newBytes === before ? beforeRequest : memoryText(newBytes);
}

function sumText(calm: MemoryCalm, mark: MemoryMark, newLimit: string, { nowMs }: World): string {
  const peak = mebibytes(calm.peakBytes);
  const days = Math.floor((nowMs - calm.sinceMs) / dayMs);
  const time = days === 0 ? `since ${timeText(calm.sinceMs)}` : `in ${days} days, since ${timeText(calm.sinceMs)}`;
  const by = calm.isOfPrometheus === true ? ", by Prometheus" : "";
  const sum = `${peak} × ${margin} = ${mebibytes(calm.peakBytes * margin)}`;
  return `The most that one of its pods was seen to use ${time}${by}, is ${peak} (on ${calm.peakNode}): ${sum}, and the next size above, not below the ${mark.beforeLimit} from before the raise of ${mark.at}, is ${newLimit}`;
}

function mebibytes(bytes: number): string {
  return `${Math.ceil(bytes / 2 ** 20)}Mi`;
}
