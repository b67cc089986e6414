import { seconds, type Verdict } from "../cell.ts";
import type { SimCase, SimFigures } from "./real-storm.ts";

/** How far the simulator may be from the real storm: Levee's times, and the first kill of Multus. */
const share = { levee: 0.1, multus: 0.3 } as const;
/**
 * Waits of critical pods that differ by less count as equal, as those of real storms differ by as much. Without a CPU limit
 * such a wait is what the plugins that hold the slots still need: 56 ms in one real storm of 219 pods, 72 ms in others. With a
 * limit it also depends on where in the limit's period, 100 ms, the pod comes: 212 and 360 ms.
 */
const leastMs = { free: 50, limited: 100 } as const;
/** On two cores so many plugins that hang begin together, and fail together just before the storm is cut off, or after. */
const leastRefusals = 4;
/** What `levee sim storm` promises without options. */
const criticalWithinMs = 3_000;

/** Whether the simulator says of a storm what the real one showed. */
export function simVerdict(wanted: SimCase, real: SimFigures, model: SimFigures): Verdict {
  return (wanted.impl === "levee" ? leveeVerdict : multusVerdict)(wanted, real, model);
}

function leveeVerdict({ label, cpuMillis }: SimCase, real: SimFigures, model: SimFigures): Verdict {
  const least = cpuMillis === undefined ? leastMs.free : leastMs.limited;
  const isClose =
    isNear(real.tookMs, model.tookMs, { within: share.levee, least: 0 }) &&
    isNear(real.criticalMs, model.criticalMs, { within: share.levee, least }) &&
    isNear(real.refusals, model.refusals, { within: share.levee, least: leastRefusals });
  return {
    promise: `${label}: time, critical wait and refusals within 10 %; waits that differ by up to ${least} ms count as equal, and up to ${leastRefusals} refusals, as real storms differ by as much`,
    seen: `time ${seconds(real.tookMs)} / ${seconds(model.tookMs)}, critical ${seconds(real.criticalMs)} / ${seconds(model.criticalMs)}, refusals ${real.refusals} / ${model.refusals}`,
    holds: isClose,
  };
}

function multusVerdict({ label }: SimCase, real: SimFigures, model: SimFigures): Verdict {
  const within = { within: share.multus, least: 0 };
  return {
    promise: `${label}: the right verdict, and the first kill within 30 %`,
    seen: `${heldText(real)} / ${heldText(model)}, first kill ${seconds(real.firstKillMs)} / ${seconds(model.firstKillMs)}`,
    holds: isHeld(real) === isHeld(model) && isNear(real.firstKillMs, model.firstKillMs, within),
  };
}

/** As `levee sim storm` judges. */
function isHeld({ tookMs, criticalMs, oomKills }: SimFigures): boolean {
  return tookMs !== undefined && oomKills === 0 && criticalMs !== undefined && criticalMs <= criticalWithinMs;
}

function heldText(figures: SimFigures): string {
  return isHeld(figures) ? "holds" : "does not hold";
}

function isNear(
  real: number | undefined,
  model: number | undefined,
  { within, least }: { readonly within: number; readonly least: number },
): boolean {
  if (real === undefined || model === undefined) return real === model;
  return Math.abs(real - model) <= Math.max(least, real * within);
}
