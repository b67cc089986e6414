import type { StormView } from "../../wire/console-storm.ts";

const wide = 600;
const high = 120;

/** Waiting pods over the last hour as one line, with its numbers in words. */
export function stormDrawing({ points, spanMs }: Pick<StormView, "points" | "spanMs">): string {
  const last = points.at(-1);
  const most = Math.max(0, ...points.map(({ waiting }) => waiting));
  if (last === undefined || most === 0) return "";
  const startMs = last.atMs - spanMs;
  const line = points
    .map(({ atMs, waiting }) => {
      const across = ((atMs - startMs) / spanMs) * wide;
      return `${across.toFixed(1)},${(high - (waiting / most) * (high - 10)).toFixed(1)}`;
    })
    .join(" ");
  const minutes = Math.round(spanMs / 60_000);
  const title = `Waiting pods in the last ${minutes} minutes: at most ${most}, now ${last.waiting}`;
  return `<figure><svg viewBox="0 0 ${wide} ${high}" role="img" aria-label="${title}"><polyline points="${line}"/></svg><figcaption>${title}</figcaption></figure>`;
}
