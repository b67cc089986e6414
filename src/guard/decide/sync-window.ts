import type { ApplicationFacts, ProjectFacts, SyncWindow } from "../facts/world.ts";
import { cronMatches } from "./cron-schedule.ts";

const minuteMs = 60_000;
/** A week; a longer search would give the same answer for a longer window. */
const lookBackMinutesMax = 10_080;

/**
 * Whether Argo CD would revert a live change by itself. `Off`: automatic sync is off. `Held`: a window denies it, or the
 * Application is not reconciled. Any doubt counts as armed.
 */
type RevertState = "Off" | "Held" | "Armed";

export function revertState(
  application: ApplicationFacts,
  project: ProjectFacts | undefined,
  nowMs: number,
): RevertState {
  if (!application.isAutomated) return "Off";
  if (application.skipsReconcile) return "Held";
  const windows = project?.syncWindows ?? [];
  return windows.some((window) => denies(window, application.name) && isOpen(window, nowMs)) ? "Held" : "Armed";
}

/** Windows with other conditions than the name are not understood and hold nothing. */
function denies({ kind, applications, needsAll }: SyncWindow, application: string): boolean {
  return kind === "deny" && !needsAll && applications.some((pattern) => pattern === application || pattern === "*");
}

/** A window is open if it began within its duration before now. Only UTC is understood. */
function isOpen({ schedule, duration, timeZone }: SyncWindow, nowMs: number): boolean {
  const minutes = durationMinutes(duration);
  if (minutes === undefined || (timeZone !== "" && timeZone !== "UTC")) return false;
  const thisMinuteMs = Math.floor(nowMs / minuteMs) * minuteMs;
  for (let back = 0; back < Math.min(minutes, lookBackMinutesMax); back += 1) {
    if (cronMatches(schedule, thisMinuteMs - back * minuteMs)) return true;
  }
  return false;
}

/** In Argo CD's notation: `30m`, `2h`, `1h30m`. */
function durationMinutes(text: string): number | undefined {
  const found = /^(?:(\d{1,4})h)?(?:(\d{1,6})m)?$/.exec(text);
  if (found === null || text === "") return undefined;
  return Number(found[1] ?? 0) * 60 + Number(found[2] ?? 0);
}
