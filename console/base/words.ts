/** `45 s`, `12 min`, `3 h 20 min`, `2 d 4 h`: two units at most, as a person would say it. */
export function spanText(ms: number): string {
  const seconds = Math.max(0, Math.round(ms / 1_000));
  if (seconds < 90) return `${seconds} s`;
  const minutes = Math.round(seconds / 60);
  if (minutes < 90) return `${minutes} min`;
  const hours = Math.floor(minutes / 60);
  if (hours < 48) return minutes % 60 === 0 ? `${hours} h` : `${hours} h ${minutes % 60} min`;
  const days = Math.floor(hours / 24);
  return hours % 24 === 0 ? `${days} d` : `${days} d ${hours % 24} h`;
}

/** Short runs: `0.4 ms`, `35 ms`, `1.2 s`. */
export function tookText(ms: number): string {
  if (ms < 1) return `${ms.toFixed(1)} ms`;
  if (ms < 1_000) return `${Math.round(ms)} ms`;
  return ms < 60_000 ? `${(ms / 1_000).toFixed(1)} s` : spanText(ms);
}

/** `03:14:07`, in the viewer's time zone. */
export function clockText(wallMs: number): string {
  const at = new Date(wallMs);
  return [at.getHours(), at.getMinutes(), at.getSeconds()].map((part) => String(part).padStart(2, "0")).join(":");
}

/** `2026-05-10 17:43`, with the day, for things that are older than a night. */
export function dayText(wallMs: number): string {
  const at = new Date(wallMs);
  const day = [at.getFullYear(), at.getMonth() + 1, at.getDate()].map((part) => String(part).padStart(2, "0"));
  return `${day.join("-")} ${clockText(wallMs).slice(0, 5)}`;
}

/** Marks on an axis of time: no two that look alike. */
export function axisTexts(seconds: readonly number[]): string[] {
  const [first = 0, second = first + 60] = seconds;
  const text = (ms: number): string => {
    if (second - first < 60) return clockText(ms);
    return second - first < 43_200 ? clockText(ms).slice(0, 5) : dayText(ms).slice(5, 10);
  };
  return seconds.map((at) => text(at * 1_000));
}

export function bytesText(bytes: number): string {
  if (bytes < 1024 * 1024) return `${Math.round(bytes / 1024)} KiB`;
  const mebibytes = bytes / (1024 * 1024);
  return mebibytes < 1024 ? `${Math.round(mebibytes)} MiB` : `${(mebibytes / 1024).toFixed(1)} GiB`;
}

/** With a thin space between thousands, which no locale reads as a decimal point. */
export function countText(count: number): string {
  return String(Math.round(count)).replace(/\B(?=(?:\d{3})+$)/gu, "\u202f");
}

export function plural(count: number, one: string, many = `${one}s`): string {
  return `${countText(count)} ${count === 1 ? one : many}`;
}
