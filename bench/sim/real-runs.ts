import type { Bench } from "../bench.ts";
import type { Contender } from "../contenders/contender.ts";
import { medianOf } from "../runs.ts";
import { realStorm, type SimCase, type SimFigures } from "./real-storm.ts";

/** What several real runs of a storm showed. */
export interface RealRuns {
  readonly runs: readonly SimFigures[];
  /** The middle one of each figure; of two, the higher. */
  readonly median: SimFigures;
}

/** A critical wait differs by 70 % between two runs, so one run says little. Multus takes a minute each. */
const timesOf = ({ impl }: SimCase): number => (impl === "levee" ? 3 : 2);

export async function realRuns(bench: Bench, contender: Contender, wanted: SimCase): Promise<RealRuns> {
  const runs: SimFigures[] = [];
  const times = bench.options.isQuick ? 1 : timesOf(wanted);
  while (runs.length < times) runs.push(await realStorm(bench, contender, wanted));
  return { runs, median: medianFigures(runs) };
}

export function medianFigures(runs: readonly SimFigures[]): SimFigures {
  const middle = (pick: (one: SimFigures) => number): number => medianOf(runs.map(pick));
  // Something that never happened is later than everything else.
  const moment = (pick: (one: SimFigures) => number | undefined): number | undefined => {
    const ms = middle((one) => pick(one) ?? Infinity);
    return ms === Infinity ? undefined : ms;
  };
  return {
    attached: middle(({ attached }) => attached),
    tookMs: moment(({ tookMs }) => tookMs),
    criticalMs: moment(({ criticalMs }) => criticalMs),
    refusals: middle(({ refusals }) => refusals),
    oomKills: middle(({ oomKills }) => oomKills),
    firstKillMs: moment(({ firstKillMs }) => firstKillMs),
    daemonCpuMs: middle(({ daemonCpuMs }) => daemonCpuMs),
    anonPeakMib: middle(({ anonPeakMib }) => anonPeakMib),
  };
}
