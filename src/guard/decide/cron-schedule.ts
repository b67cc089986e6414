/** Lowest and highest value of minute, hour, day of the month, month, day of the week. */
const bounds: readonly (readonly [lowest: number, highest: number])[] = [
  [0, 59],
  [0, 23],
  [1, 31],
  [1, 12],
  [0, 7],
];

/**
 * Whether a schedule with five fields fires in this minute, in UTC. It may have stars, numbers, lists, ranges and steps.
 * Any other schedule never fires: a window that the guard cannot read does not count as a hold.
 */
export function cronMatches(schedule: string, atMs: number): boolean {
  const parts = schedule.trim().split(/\s+/);
  if (parts.length !== bounds.length) return false;
  const now = valuesAt(new Date(atMs));
  const fits = parts.map((part, index) => fieldFits(part, now[index] ?? [], bounds[index] ?? [0, 0]));
  // As cron does: two restricted day fields are alternatives, and a star restricts nothing.
  const isRestricted = parts[2] !== "*" && parts[4] !== "*";
  const days = [fits[2], fits[4]];
  const isDay = isRestricted ? days.includes(true) : !days.includes(false);
  return isDay && [fits[0], fits[1], fits[3]].every((one) => one === true);
}

/** Sunday is both 0 and 7. */
function valuesAt(at: Date): readonly (readonly number[])[] {
  const weekday = at.getUTCDay() === 0 ? [0, 7] : [at.getUTCDay()];
  return [[at.getUTCMinutes()], [at.getUTCHours()], [at.getUTCDate()], [at.getUTCMonth() + 1], weekday];
}

/** Every term of a list must be readable, and one of them must match. */
function fieldFits(field: string, values: readonly number[], bound: readonly [number, number]): boolean {
  const terms = field.split(",").map((term) => rangeOf(term, bound));
  return (
    !terms.includes(undefined) &&
    terms.some((range) => range !== undefined && values.some((value) => holds(range, value)))
  );
}

interface Range {
  readonly from: number;
  readonly to: number;
  readonly by: number;
}

function holds({ from, to, by }: Range, value: number): boolean {
  return value >= from && value <= to && (value - from) % by === 0;
}

function rangeOf(term: string, bound: readonly [number, number]): Range | undefined {
  const [span = "", step = "1", ...more] = term.split("/");
  const [first, last, ...others] = endsOf(span, term.includes("/"), bound);
  if (more.length + others.length > 0 || ![first, last, step].every((text) => /^\d{1,2}$/.test(text ?? "")))
    return undefined;
  const range = { from: Number(first), to: Number(last), by: Number(step) };
  const isInside = range.from >= bound[0] && range.to <= bound[1];
  return isInside && range.by > 0 ? range : undefined;
}

/** `5` is one value; `5/10` runs to the end of the range. */
function endsOf(span: string, hasStep: boolean, [lowest, highest]: readonly [number, number]): readonly string[] {
  if (span === "*") return [String(lowest), String(highest)];
  if (span.includes("-")) return span.split("-");
  return [span, hasStep ? String(highest) : span];
}
