import type { GuardSettings } from "../../facts/guard-settings.ts";
import type { MemoryQuestion } from "../../facts/memory-past.ts";
import type { World } from "../../facts/world.ts";
import { timeMs } from "../../json-values.ts";
import { decisionPhase } from "../standing.ts";
import { calmForMs } from "./lower-change.ts";
import { calmKey, gapMaxMs, watchedNow, type Watched } from "./memory-calm.ts";

/**
 * The containers about whose memory Prometheus is asked: raised by the guard, long enough ago, and with pods that do not
 * tell themselves what they use.
 */
export function memoryQuestions(world: World, settings: GuardSettings): readonly MemoryQuestion[] {
  const { calmForMs: lengthMs = calmForMs } = settings;
  if (!Number.isFinite(lengthMs) || world.memoryCalms === undefined) return [];
  return watchedNow(world, settings)
    .filter((watched) => isSilent(watched, world) && isDue(watched, lengthMs, world))
    .map((watched) => {
      const { daemonSet, container, limit } = watched;
      const { namespace, name } = daemonSet;
      const isTried = isBeingTried(watched, world);
      return { key: calmKey(watched), limit, namespace, daemonSet: name, container, lengthMs, isTried };
    });
}

/** A guard that has just begun has not heard any daemon yet; those that tell themselves were heard by the one before. */
function isSilent(watched: Watched, { memoryCalms = [], nowMs }: World): boolean {
  if (watched.views.length > 0) return false;
  const calm = memoryCalms.find(({ key }) => key === calmKey(watched));
  return calm !== undefined && (calm.isOfPrometheus === true || nowMs - calm.coveredMs > gapMaxMs);
}

/** While the lower memory is tried, the time of the mark is that of the lowering. */
function isDue(watched: Watched, lengthMs: number, world: World): boolean {
  const atMs = timeMs(watched.daemonSet.memoryMarks?.[watched.container]?.at);
  return world.nowMs - atMs >= lengthMs || isBeingTried(watched, world);
}

function isBeingTried({ daemonSet, container }: Watched, { decisions }: World): boolean {
  return decisions.some(
    (decision) =>
      decision.spec.purpose === "LowerMemory" &&
      ["Approved", "Running"].includes(decisionPhase(decision)) &&
      decision.spec.steps.some(
        (step) =>
          step.action === "SetMemoryLimit" &&
          step.setMemoryLimit.uid === daemonSet.uid &&
          step.setMemoryLimit.container === container,
      ),
  );
}
