const unitsMs = [
  ["d", 86_400_000],
  ["h", 3_600_000],
  ["m", 60_000],
  ["s", 1000],
] as const;

/** As kubectl's AGE: the two largest units, or only the first from ten on. A negative span counts as 0. */
export function ageText(spanMs: number): string {
  const ms = Number.isFinite(spanMs) ? Math.max(0, spanMs) : 0;
  const at = unitsMs.findIndex(([, size]) => ms >= size);
  if (at < 0) return "0s";
  const [unit, size] = unitsMs[at] ?? ["s", 1000];
  const count = Math.floor(ms / size);
  const next = unitsMs[at + 1];
  const rest = next === undefined || count >= 10 ? 0 : Math.floor((ms % size) / next[1]);
  return `${count}${unit}${next === undefined || rest === 0 ? "" : `${rest}${next[0]}`}`;
}

/** How long a step took: milliseconds below one second, then seconds. */
export function tookText(ms: number): string {
  if (!Number.isFinite(ms)) return "?";
  if (ms < 10) return `${Math.max(0, ms).toFixed(1)} ms`;
  if (ms < 1000) return `${Math.round(ms)} ms`;
  return ms < 60_000 ? `${(ms / 1000).toFixed(1)} s` : ageText(ms);
}

/** UTC with milliseconds, exactly as in the daemon's log, so that one can search for it. */
export function momentText(wallMs: number): string {
  const date = new Date(wallMs);
  return Number.isNaN(date.getTime()) ? "unknown time" : date.toISOString();
}
