import type { ApplicationFacts, ProjectFacts, SyncWindow } from "../facts/world.ts";
import { cronMatches } from "./cron-schedule.ts";

const minuteMs = 60_000;
/** A longer window is looked at for its last week only; that it is in force does not change by that. */
const lookBackMinutesMax = 10_080;

/**
 * Whether Argo CD would take a live change back by itself. `Off`: automatic sync is off. `Held`: a window denies it, or
 * the Application is not reconciled. Whatever cannot be told for sure counts as armed.
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

/** One that asks for more than the name is not understood, and so holds nothing. */
function denies({ kind, applications, needsAll }: SyncWindow, application: string): boolean {
  return kind === "deny" && !needsAll && applications.some((pattern) => pattern === application || pattern === "*");
}

/** It is open when it began within its duration before now. Only windows in UTC are understood. */
function isOpen({ schedule, duration, timeZone }: SyncWindow, nowMs: number): boolean {
  const minutes = durationMinutes(duration);
  if (minutes === undefined || (timeZone !== "" && timeZone !== "UTC")) return false;
  const thisMinuteMs = Math.floor(nowMs / minuteMs) * minuteMs;
  for (let back = 0; back < Math.min(minutes, lookBackMinutesMax); back += 1) {
    if (cronMatches(schedule, thisMinuteMs - back * minuteMs)) return true;
  }
  return false;
}

/** As Argo CD writes them: `30m`, `2h`, `1h30m`. */
function durationMinutes(text: string): number | undefined {
  const found = /^(?:(\d{1,4})h)?(?:(\d{1,6})m)?$/.exec(text);
  if (found === null || text === "") return undefined;
  return Number(found[1] ?? 0) * 60 + Number(found[2] ?? 0);
}
