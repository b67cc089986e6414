import { seconds, type Verdict } from "../cell.ts";
import type { StormFigures } from "../storm/figures.ts";
import { vitalAfterMs } from "../storm/storm.ts";

/** What both took before there were built-in plugins. */
const memoryMax = { anonMib: 15.5, shimsMib: 71 } as const;
const grownMibMax = 12;
/** Linear growth costs each pod the same; the rest is for the spread of a busy machine. */
const cpuTimesMax = 1.25;

type Pair = readonly [levee: StormFigures, programs: StormFigures | undefined];

/** All pods are attached in time, by one daemon without a restart. */
export function heldVerdict(levee: StormFigures, promise: string, limitMs = Number.POSITIVE_INFINITY): Verdict {
  const { tookMs, attached, pods, oomKills, restarts } = levee;
  const seen = `${attached} of ${pods} in ${seconds(tookMs ?? levee.endedMs)}, ${oomKills} kills, ${restarts} restarts`;
  return { promise, seen, holds: tookMs !== undefined && tookMs <= limitMs && oomKills === 0 && restarts === 0 };
}

/** With built-in plugins a storm is faster than the plugins themselves; with programs it is little slower. */
export function shareVerdicts(
  [levee, programs]: Pair,
  floorMs: number,
  share: { readonly builtIn: number; readonly programs: number },
): readonly Verdict[] {
  const within = (figures: StormFigures, times: number, how: string): Verdict =>
    heldVerdict(
      figures,
      `${figures.pods} pods at 50Mi${how}: all attached, no kill, no restart, within ${times} × the delegates alone (${((times * floorMs) / 1000).toFixed(2)} s)`,
      times * floorMs,
    );
  return [
    within(levee, share.builtIn, ""),
    ...(programs === undefined ? [] : [within(programs, share.programs, " with built-ins off")]),
  ];
}

/** How many ADDs fail, of all. The pods that arrive in the middle are among them. */
export function returnedVerdicts([levee, programs]: Pair, shareMax: number): readonly Verdict[] {
  const limit = shareMax === 0 ? "no ADD is" : `at most ${shareMax * 100} % of the ADDs are`;
  return [levee, ...(programs === undefined ? [] : [programs])].map(({ label, pods, failedAdds }) => ({
    promise: `${label}: ${limit} told to come back`,
    seen: `${failedAdds} of ${pods + failedAdds}`,
    holds: failedAdds <= shareMax * (pods + failedAdds),
  }));
}

/** How long critical pods wait that arrive in a storm, which a storm with programs shows where one with built-ins is over. */
export function vitalVerdicts([levee, programs]: Pair, limitMs: number): readonly Verdict[] {
  const within = ({ vitalWaitsMs }: StormFigures, how: string): Verdict => {
    const worst = vitalWaitsMs[0];
    return {
      promise: `each of the 6 critical pods of another namespace that arrive 2 s in${how} is attached within ${limitMs / 1000} s`,
      seen: `longest ${seconds(worst)}`,
      holds: worst !== undefined && worst <= limitMs,
    };
  };
  return [within(levee, ""), ...(programs === undefined ? [] : [within(programs, ", with built-ins off,")])];
}

/** A storm that is over before the critical pods arrive says nothing about how they pass the others. */
export function vitalNotes(...storms: readonly (StormFigures | undefined)[]): readonly string[] {
  return storms.flatMap((storm) => {
    if (storm?.tookMs === undefined || storm.tookMs > vitalAfterMs) return [];
    const { label, tookMs } = storm;
    return [
      `${label} had attached all pods after ${seconds(tookMs)}, before the critical ones arrived: they met an idle node. In storm900 they arrive in the middle.`,
    ];
  });
}

/** Whether the daemon let slots stand idle while pods were due, as it said itself. */
export function slotNotes({ label, slots }: StormFigures): readonly string[] {
  if (slots === undefined) return [];
  const { freeShare, samples, waitedMs, limitMin, limitMax } = slots;
  return [
    `${label}: pods waited in line for ${seconds(waitedMs)}, and a slot was free in ${Math.round(100 * freeShare)} % of that time (${samples} looks); ${limitMin} to ${limitMax} ADDs were allowed at once`,
  ];
}

export function memoryVerdict({ anonPeakMib, runtimeMib }: StormFigures): Verdict {
  const { anonMib, shimsMib } = memoryMax;
  return {
    promise: `the daemon's peak of anonymous memory is at most ${anonMib} MiB; all shims and what they start take at most ${shimsMib} MiB of the host`,
    seen: `${anonPeakMib.toFixed(1)} and ${runtimeMib.toFixed(1)} MiB`,
    holds: anonPeakMib <= anonMib && runtimeMib <= shimsMib,
  };
}

/** A waiting pod costs almost nothing: memory hardly grows, and each pod takes the same CPU. */
export function growthVerdicts(large: StormFigures, small: StormFigures): readonly Verdict[] {
  const within = (whose: string, cpuMs: (figures: StormFigures) => number): Verdict => ({
    promise: `${whose} CPU per pod is at most ${cpuTimesMax} × that of ${small.pods} pods`,
    seen: `${cpuMs(large).toFixed(1)} against ${cpuMs(small).toFixed(1)} ms`,
    holds: cpuMs(large) <= cpuTimesMax * cpuMs(small),
  });
  return [
    {
      promise: `its peak of anonymous memory is at most ${grownMibMax} MiB above that of ${small.pods} pods`,
      seen: `${large.anonPeakMib.toFixed(1)} against ${small.anonPeakMib.toFixed(1)} MiB`,
      holds: large.anonPeakMib - small.anonPeakMib <= grownMibMax,
    },
    within("the daemon's", ({ daemonCpuMs, pods }) => daemonCpuMs / pods),
    within("the daemon's, the shims' and the plugins'", wholeCpuMs),
  ];
}

/** CPU of everything, for one pod. */
function wholeCpuMs({ daemonCpuMs, runtimeCpuMs, pods }: StormFigures): number {
  return (daemonCpuMs + runtimeCpuMs) / pods;
}

/** What a pod takes of the processors in storms of several sizes, beside what the plugins take by themselves. */
export function growthNote(
  storms: readonly StormFigures[],
  floors: readonly Pick<StormFigures, "pods" | "runtimeCpuMs">[],
): string {
  const ours = storms.map((storm) => {
    const ofDaemon = storm.daemonCpuMs / storm.pods;
    return `${storm.pods} pods ${wholeCpuMs(storm).toFixed(1)} ms (${ofDaemon.toFixed(1)} ms of it the daemon)`;
  });
  const alone = floors.map(({ pods, runtimeCpuMs }) => `${pods} pods ${(runtimeCpuMs / pods).toFixed(1)} ms`);
  return `CPU per pod of the daemon, the shims and the plugins, with the bench that calls them: ${ours.join(", ")}. The delegates alone: ${alone.join(", ")}.`;
}
