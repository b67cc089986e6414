import { round } from "../cell.ts";
import type { SlotUse } from "./idle-slots.ts";
import { attachedCount, attachTimes, firstError, waits, type stormOn } from "./storm.ts";

/** One contender's storm, in figures. */
export interface StormFigures {
  readonly label: string;
  readonly pods: number;
  readonly attached: number;
  readonly tookMs: number | undefined;
  readonly endedMs: number;
  /** Longest first. */
  readonly vitalWaitsMs: readonly (number | undefined)[];
  readonly failedAdds: number;
  readonly oomKills: number;
  readonly restarts: number;
  readonly peakMib: number;
  readonly anonPeakMib: number;
  readonly processesMax: number;
  readonly daemonCpuMs: number;
  readonly runtimeMib: number;
  /** CPU of all shims and their children, and of the bench that calls them. */
  readonly runtimeCpuMs: number;
  readonly firstError: string;
  readonly attachedAtMs: readonly number[];
  /** Where the storm was asked for it. */
  readonly slots?: SlotUse;
}

export function figuresOf(
  label: string,
  outcome: Awaited<ReturnType<typeof stormOn>>,
  daemon: { readonly oomKills: number; readonly restarts: number },
): StormFigures {
  const { peaks, records, late } = outcome;
  return {
    label,
    pods: records.length,
    attached: attachedCount(records),
    tookMs: outcome.tookMs,
    endedMs: outcome.endedMs,
    vitalWaitsMs: waits(late),
    failedAdds: [...records, ...late].reduce((sum, { errors }) => sum + errors.length, 0),
    oomKills: daemon.oomKills,
    restarts: daemon.restarts,
    peakMib: round(peaks.peakMib),
    anonPeakMib: round(peaks.anonPeakMib),
    processesMax: peaks.processesMax,
    daemonCpuMs: round(peaks.cpuMs),
    runtimeMib: round(outcome.runtimeMib),
    runtimeCpuMs: round(outcome.runtimeCpuMs),
    firstError: firstError(outcome),
    attachedAtMs: attachTimes(outcome),
  };
}
