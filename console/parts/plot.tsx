import type { JSX } from "preact";
import { useEffect, useRef } from "preact/hooks";
import UPlot from "uplot";
import { axisTexts, countText } from "../base/words.ts";
import { plotColours, type PlotData } from "./plot-data.ts";
import { PlotTable } from "./plot-table.tsx";

/** A plot with a table of the same numbers, for who cannot see it. */
export function Plot({ title, data }: { readonly title: string; readonly data: PlotData }): JSX.Element {
  const place = useRef<HTMLDivElement>(null);
  const plot = useRef<UPlot | undefined>(undefined);
  const shape = `${data.isStacked}|${data.series.map(({ label }) => label).join("\n")}`;
  useEffect(() => keepPlot(place.current, plot, data), [shape]);
  useEffect(() => plot.current?.setData(columnsOf(data)), [data]);
  return (
    <figure class="plot">
      <figcaption>
        <h2>{title}</h2>
        <PlotKey data={data} />
      </figcaption>
      <div ref={place} class="plot-place" role="img" aria-label={`${title}; the table below has the same numbers`} />
      <PlotTable title={title} data={data} />
    </figure>
  );
}

function PlotKey({ data: { series } }: { readonly data: PlotData }): JSX.Element {
  return (
    <ul class="plot-key">
      {series.map(({ label, values }, index) => (
        <li>
          <span class={`swatch colour-${index % plotColours}`} aria-hidden="true" />
          {label} <b>{countText(values.at(-1) ?? 0)}</b>
        </li>
      ))}
    </ul>
  );
}

/** Draws it, draws it anew when the colours of the system change, and keeps it as wide as its place. */
function keepPlot(place: HTMLElement | null, plot: { current: UPlot | undefined }, data: PlotData): () => void {
  if (place === null) return () => undefined;
  const draw = (): void => {
    plot.current?.destroy();
    plot.current = new UPlot(optionsOf(data, sizeOf(place)), columnsOf(data), place);
  };
  draw();
  const dark = matchMedia("(prefers-color-scheme: dark)");
  dark.addEventListener("change", draw);
  const watch = new ResizeObserver(() => plot.current?.setSize(sizeOf(place)));
  watch.observe(place);
  return () => {
    dark.removeEventListener("change", draw);
    watch.disconnect();
    plot.current?.destroy();
    plot.current = undefined;
  };
}

function sizeOf(place: HTMLElement): { readonly width: number; readonly height: number } {
  return { width: Math.max(240, place.clientWidth), height: Math.max(140, place.clientHeight) };
}

/** Seconds first, then a column per series. Of stacked ones the tallest is drawn first, so the order is turned round. */
function columnsOf({ timesMs, series, isStacked }: PlotData): UPlot.AlignedData {
  const sums = timesMs.map(() => 0);
  const columns = series.map(({ values }) =>
    isStacked ? values.map((value, index) => (sums[index] = (sums[index] ?? 0) + value)) : [...values],
  );
  return [timesMs.map((ms) => ms / 1_000), ...(isStacked ? columns.toReversed() : columns)];
}

function optionsOf(
  { series, isStacked }: PlotData,
  size: { readonly width: number; readonly height: number },
): UPlot.Options {
  const colour = colourReader();
  const font = `${Math.round(Number.parseFloat(getComputedStyle(document.documentElement).fontSize) * 0.75)}px Inter, system-ui, sans-serif`;
  const lines = series.map(({ label }, index): UPlot.Series => ({
    label,
    stroke: colour(`--plot-${index % plotColours}`),
    fill: colour(`--plot-fill-${index % plotColours}`),
    width: 1.5,
    points: { show: false },
  }));
  const axis = {
    stroke: colour("--muted"),
    font,
    grid: { stroke: colour("--line"), width: 1 },
    ticks: { show: false },
  };
  return {
    ...size,
    legend: { show: false },
    cursor: { y: false, points: { show: false } },
    scales: { y: { range: (_plot, _min, max) => [0, Math.max(4, max * 1.08)] } },
    axes: [
      {
        ...axis,
        values: (_plot, seconds) => axisTexts(seconds),
        space: 70,
        size: 30,
      },
      {
        ...axis,
        values: (_plot, counts) => counts.map((count) => (Number.isInteger(count) ? countText(count) : "")),
        size: 52,
      },
    ],
    series: [{}, ...(isStacked ? lines.toReversed() : lines)],
  };
}

function colourReader(): (name: string) => string {
  const style = getComputedStyle(document.documentElement);
  return (name) => style.getPropertyValue(name).trim();
}
