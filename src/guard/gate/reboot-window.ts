/** When nodes may be rebooted: some days of the week, from one time of day to another, in one time zone. */
export interface RebootWindow {
  /** As written, for messages. */
  readonly text: string;
  /** 0 is Sunday. */
  readonly days: ReadonlySet<number>;
  readonly fromMinute: number;
  /** Not after midnight of the same day, except for a window over midnight: then it is below `fromMinute`. */
  readonly toMinute: number;
  readonly timeZone: string;
}

const dayNames = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"];
const form = /^([A-Za-z,-]+|\*) +(\d\d:\d\d)-(\d\d:\d\d)(?: +(\S+))?$/u;
const dayMinutes = 24 * 60;

/** Reads `Mon-Fri 02:00-05:00 Europe/Berlin`, or says what is wrong with it. `*` is every day, and UTC the time zone unless told. */
export function parseRebootWindow(text: string): RebootWindow | { readonly problem: string } {
  const [, days = "", from = "", to = "", zone = "UTC"] = form.exec(text.trim()) ?? [];
  if (days === "") return { problem: "it has not the form DAYS HH:MM-HH:MM [TIME ZONE]" };
  const known = daysOf(days);
  if (known === undefined) return { problem: `"${days}" names no days; use names such as Mon-Fri, Sat,Sun or *` };
  const minutes = { fromMinute: minuteOf(from), toMinute: minuteOf(to) };
  const problem = timesProblem(minutes, `${from}-${to}`) ?? zoneProblem(zone);
  return problem === undefined ? { text: text.trim(), days: known, ...minutes, timeZone: zone } : { problem };
}

function timesProblem(
  { fromMinute, toMinute }: Pick<RebootWindow, "fromMinute" | "toMinute">,
  text: string,
): string | undefined {
  if (Number.isNaN(fromMinute) || Number.isNaN(toMinute)) return `${text} is no time of day`;
  return fromMinute === toMinute ? `${text} never opens` : undefined;
}

function zoneProblem(zone: string): string | undefined {
  return isTimeZone(zone) ? undefined : `"${zone}" is no time zone`;
}

/** A window over midnight belongs to the day on which it opens. */
export function isInWindow({ days, fromMinute, toMinute, timeZone }: RebootWindow, nowMs: number): boolean {
  const { day, minute } = localTime(nowMs, timeZone);
  if (fromMinute < toMinute) return days.has(day) && minute >= fromMinute && minute < toMinute;
  return (days.has(day) && minute >= fromMinute) || (days.has((day + 6) % 7) && minute < toMinute);
}

function daysOf(text: string): ReadonlySet<number> | undefined {
  if (text === "*") return new Set([0, 1, 2, 3, 4, 5, 6]);
  const found = new Set<number>();
  for (const part of text.split(",")) {
    const [first = -1, last = first, ...rest] = part.split("-").map((name) => dayNames.indexOf(name));
    if (first < 0 || last < 0 || rest.length > 0) return undefined;
    const count = ((last - first + 7) % 7) + 1;
    for (let step = 0; step < count; step += 1) found.add((first + step) % 7);
  }
  return found;
}

/** NaN for what is no time of day; 24:00 is the end of one. */
function minuteOf(text: string): number {
  const [hours = 0, minutes = 0] = text.split(":").map(Number);
  const minute = hours * 60 + minutes;
  return minutes < 60 && minute <= dayMinutes ? minute : Number.NaN;
}

function isTimeZone(zone: string): boolean {
  try {
    return new Intl.DateTimeFormat("en", { timeZone: zone }).resolvedOptions().timeZone !== "";
  } catch {
    // An unknown zone throws.
    return false;
  }
}

/** UTC needs no table of time zones, which would take memory. */
function localTime(nowMs: number, timeZone: string): { readonly day: number; readonly minute: number } {
  if (timeZone === "UTC") {
    const minutes = Math.floor(nowMs / 60_000);
    // 1 January 1970 was a Thursday.
    return { day: (Math.floor(minutes / dayMinutes) + 4) % 7, minute: minutes % dayMinutes };
  }
  const parts = new Intl.DateTimeFormat("en-US", {
    timeZone,
    weekday: "short",
    hour: "2-digit",
    minute: "2-digit",
    hourCycle: "h23",
  }).formatToParts(nowMs);
  const part = (type: string): string => parts.find((one) => one.type === type)?.value ?? "";
  return { day: dayNames.indexOf(part("weekday")), minute: Number(part("hour")) * 60 + Number(part("minute")) };
}
