import { seconds, type Verdict } from "../cell.ts";
import { acrossRuns } from "../runs.ts";
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

/** Whether the simulator says of a storm what the real runs showed. These differ, so it has to be as near to one as they are. */
export function simVerdict(wanted: SimCase, runs: readonly SimFigures[], model: SimFigures): Verdict {
  return (wanted.impl === "levee" ? leveeVerdict : multusVerdict)(wanted, runs, model);
}

function leveeVerdict({ label, cpuMillis }: SimCase, runs: readonly SimFigures[], model: SimFigures): Verdict {
  const least = cpuMillis === undefined ? leastMs.free : leastMs.limited;
  const isClose =
    isNear(runs, model, ({ tookMs }) => tookMs, { within: share.levee, least: 0 }) &&
    isNear(runs, model, ({ criticalMs }) => criticalMs, { within: share.levee, least }) &&
    isNear(runs, model, ({ refusals }) => refusals, { within: share.levee, least: leastRefusals });
  const refused = acrossRuns(
    runs.map(({ refusals }) => refusals),
    (count) => `${count}`,
  );
  return {
    promise: `${label}: time, critical wait and refusals within 10 % of the real runs; waits that differ by up to ${least} ms count as equal, and up to ${leastRefusals} refusals, as real storms differ by as much`,
    seen: `time ${realText(runs, ({ tookMs }) => tookMs)} / ${seconds(model.tookMs)}, critical ${realText(runs, ({ criticalMs }) => criticalMs)} / ${seconds(model.criticalMs)}, refusals ${refused} / ${model.refusals}`,
    holds: isClose,
  };
}

function multusVerdict({ label }: SimCase, runs: readonly SimFigures[], model: SimFigures): Verdict {
  const verdicts = [...new Set(runs.map(heldText))];
  return {
    promise: `${label}: the right verdict, and the first kill within 30 % of the real runs`,
    seen: `${verdicts.join(" or ")} / ${heldText(model)}, first kill ${realText(runs, ({ firstKillMs }) => firstKillMs)} / ${seconds(model.firstKillMs)}`,
    holds:
      verdicts.includes(heldText(model)) &&
      isNear(runs, model, ({ firstKillMs }) => firstKillMs, { within: share.multus, least: 0 }),
  };
}

/** As `levee sim storm` judges. */
function heldText({ tookMs, criticalMs, oomKills }: SimFigures): string {
  const isHeld = tookMs !== undefined && oomKills === 0 && criticalMs !== undefined && criticalMs <= criticalWithinMs;
  return isHeld ? "holds" : "does not hold";
}

type Pick = (figures: SimFigures) => number | undefined;

/** What never happened is later than everything else. */
function isNear(
  runs: readonly SimFigures[],
  model: SimFigures,
  pick: Pick,
  { within, least }: { readonly within: number; readonly least: number },
): boolean {
  const real = runs.map((one) => pick(one) ?? Infinity);
  const [lowest, highest, found] = [Math.min(...real), Math.max(...real), pick(model) ?? Infinity];
  const isLate = found === Infinity && lowest === Infinity;
  return (
    isLate ||
    (found >= lowest - Math.max(least, lowest * within) && found <= highest + Math.max(least, highest * within))
  );
}

function realText(runs: readonly SimFigures[], pick: Pick): string {
  return acrossRuns(
    runs.map((one) => pick(one) ?? Infinity),
    (value) => seconds(value === Infinity ? undefined : value),
  );
}
