import { escapeHtml } from "../../../base/plain-text.ts";

/** One line of a plot. */
export interface PlotLine {
  readonly name: string;
  /** CSS class of the colour. */
  readonly colour: "first" | "second" | "third" | "limit";
  readonly points: readonly PlotPoint[];
  /** Fills the space below. */
  readonly isArea?: boolean;
}

export type PlotPoint = readonly [x: number, y: number];

export interface Plot {
  readonly title: string;
  readonly xUnit: string;
  readonly yUnit: string;
  readonly lines: readonly PlotLine[];
  /** A moment to point at. */
  readonly mark?: { readonly x: number; readonly text: string };
}

const width = 640;
const height = 260;
const space = { left: 56, right: 14, top: 14, bottom: 34 } as const;
const plotWidth = width - space.left - space.right;
const plotHeight = height - space.top - space.bottom;
/** More points are not visible at this width. */
const pointsMax = 400;

/** A figure with a legend. The page's CSS sets its colours for light and dark. */
export function plotFigure(plot: Plot): string {
  const points = plot.lines.flatMap((line) => line.points);
  const xTicks = ticks(Math.max(...points.map(([x]) => x), plot.mark?.x ?? 0));
  const yTicks = ticks(Math.max(...points.map(([, y]) => y)));
  const scale: Scale = { xMax: xTicks.at(-1) ?? 1, yMax: yTicks.at(-1) ?? 1 };
  const legend = plot.lines
    .map(({ name, colour }) => `<span class="key ${colour}">${escapeHtml(name)}</span>`)
    .join("");
  return `<figure>
<figcaption>${escapeHtml(plot.title)}<span class="legend">${legend}</span></figcaption>
<svg viewBox="0 0 ${width} ${height}" role="img" aria-label="${escapeHtml(plot.title)}">
${yTicks.map((value) => yTick(value, scale, plot.yUnit)).join("\n")}
${xTicks.map((value) => xTick(value, scale, plot.xUnit)).join("\n")}
${plot.lines.map((line) => lineOf(line, scale)).join("\n")}
${plot.mark === undefined ? "" : markOf(plot.mark, scale)}
</svg>
</figure>`;
}

interface Scale {
  readonly xMax: number;
  readonly yMax: number;
}

function xAt(x: number, { xMax }: Scale): number {
  return space.left + (x / xMax) * plotWidth;
}

function yAt(y: number, { yMax }: Scale): number {
  return space.top + plotHeight - (y / yMax) * plotHeight;
}

function lineOf({ points, colour, isArea = false }: PlotLine, scale: Scale): string {
  const thinned = thin(points);
  const path = thinned.map(
    ([x, y], at) => `${at === 0 ? "M" : "L"}${xAt(x, scale).toFixed(1)} ${yAt(y, scale).toFixed(1)}`,
  );
  if (path.length === 0) return "";
  const [first, last] = [thinned[0]?.[0] ?? 0, thinned.at(-1)?.[0] ?? 0];
  const floor = yAt(0, scale).toFixed(1);
  const area = isArea
    ? `<path class="area ${colour}" d="${path.join("")}L${xAt(last, scale).toFixed(1)} ${floor}L${xAt(first, scale).toFixed(1)} ${floor}Z"/>`
    : "";
  return `${area}<path class="line ${colour}" d="${path.join("")}"/>`;
}

/** Keeps every n-th point and the last one. */
function thin(points: readonly PlotPoint[]): readonly PlotPoint[] {
  const step = Math.ceil(points.length / pointsMax);
  return points.filter((_, at) => at % step === 0 || at === points.length - 1);
}

function yTick(value: number, scale: Scale, unit: string): string {
  const y = yAt(value, scale).toFixed(1);
  const label = `<text x="${space.left - 8}" y="${Number(y) + 4}" text-anchor="end">${numberText(value)}${unit}</text>`;
  return `<line class="grid" x1="${space.left}" x2="${width - space.right}" y1="${y}" y2="${y}"/>${label}`;
}

function xTick(value: number, scale: Scale, unit: string): string {
  return `<text x="${xAt(value, scale).toFixed(1)}" y="${height - 12}" text-anchor="middle">${numberText(value)}${unit}</text>`;
}

function markOf({ x, text }: { readonly x: number; readonly text: string }, scale: Scale): string {
  const at = xAt(x, scale).toFixed(1);
  return `<line class="mark" x1="${at}" x2="${at}" y1="${space.top}" y2="${space.top + plotHeight}"/><text x="${Number(at) + 5}" y="${space.top + 10}">${escapeHtml(text)}</text>`;
}

/** Four to seven round numbers from 0 to at least `max`. */
export function ticks(max: number): readonly number[] {
  if (!(max > 0)) return [0, 1];
  const rough = max / 5;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = ([1, 2, 2.5, 5, 10].find((factor) => factor * power >= rough) ?? 10) * power;
  return Array.from({ length: Math.ceil(max / step - 1e-9) + 1 }, (_, at) => Number((at * step).toPrecision(6)));
}

function numberText(value: number): string {
  return Number.isInteger(value) ? `${value}` : `${Number(value.toPrecision(3))}`;
}
