import type { Colours, Panel, Query, QueryKind } from "./board.ts";
import { fieldLinks, nameOverrides, panelLinks } from "./board-links.ts";

/** The data source that a viewer chooses at the top of the board. */
export const prometheus = { type: "prometheus", uid: "${datasource}" } as const;

/** Place and size in Grafana's grid of 24 columns. */
export interface GridPos {
  readonly h: number;
  readonly w: number;
  readonly x: number;
  readonly y: number;
}

/** A panel in Grafana's own model. */
export function grafanaPanel(panel: Panel, id: number, gridPos: GridPos): object {
  const { kind, title, description, queries = [] } = panel;
  const base = { id, type: kind, title, description, gridPos };
  if (kind === "text") return { ...base, options: { mode: "markdown", content: panel.text } };
  return {
    ...base,
    datasource: prometheus,
    targets: queries.map((query, index) => target(kind, query, index)),
    fieldConfig: { defaults: fieldDefaults(kind, panel), overrides: overrides(panel) },
    options: options[kind](panel),
    ...(kind === "table" ? { transformations: transformations(queries) } : {}),
    links: panelLinks(panel),
  };
}

/** A number and a table are about now, everything else about the time shown. */
function target(kind: QueryKind, { expr, legend = "" }: Query, index: number): object {
  const isInstant = kind === "stat" || kind === "table";
  return {
    refId: refId(index),
    datasource: prometheus,
    editorMode: "code",
    expr: expr.trim(),
    legendFormat: legend,
    instant: isInstant,
    range: !isInstant,
    ...(kind === "table" ? { format: "table" } : {}),
  };
}

function refId(index: number): string {
  return String.fromCodePoint("A".charCodeAt(0) + index);
}

function fieldDefaults(kind: QueryKind, panel: Panel): object {
  const isPlot = kind === "timeseries";
  return {
    unit: panel.unit,
    color: { mode: isPlot ? "palette-classic" : "thresholds" },
    thresholds: { mode: "absolute", steps: steps(panel) },
    mappings: panel.values === undefined ? [] : [{ type: "value", options: words(panel.values) }],
    ...(panel.empty === undefined ? {} : { noValue: panel.empty }),
    ...(isPlot ? { min: 0 } : {}),
    custom: custom[kind](panel),
    links: fieldLinks(panel),
  };
}

interface Step {
  readonly value: number | null;
  readonly color: string;
}

/** Grafana has one list of colours, each from its value on. */
function steps({ from = {}, below }: Panel): readonly Step[] {
  if (below === undefined) return [{ value: null, color: "green" }, ...inOrder(from)];
  const ends = inOrder(below);
  return [...ends, { color: "green" }].map(({ color }, index) => ({ value: ends[index - 1]?.value ?? null, color }));
}

function inOrder(colours: Colours): readonly (Step & { readonly value: number })[] {
  return Object.entries(colours)
    .map(([value, color]) => ({ value: Number(value), color }))
    .toSorted((one, other) => one.value - other.value);
}

function words(values: Readonly<Record<string, string>>): object {
  return Object.fromEntries(Object.entries(values).map(([value, text], index) => [value, { text, index }]));
}

type PerKind = Readonly<Record<QueryKind, (panel: Panel) => object>>;

const custom: PerKind = {
  "stat": () => ({}),
  "table": () => ({ align: "auto", filterable: true }),
  "state-timeline": () => ({ fillOpacity: 70, lineWidth: 0 }),
  "timeseries": ({ stacked = false, from }) => ({
    drawStyle: "line",
    lineWidth: 1,
    fillOpacity: stacked ? 30 : 0,
    showPoints: "never",
    // A gap is a daemon that did not answer.
    spanNulls: false,
    stacking: { mode: stacked ? "normal" : "none", group: "A" },
    thresholdsStyle: { mode: from === undefined ? "off" : "dashed" },
  }),
};

const legend = { displayMode: "list", placement: "bottom", showLegend: true, calcs: [] };

const options: PerKind = {
  "stat": ({ show }) => ({
    reduceOptions: { values: false, calcs: ["lastNotNull"], fields: "" },
    // The colour is behind the number or the word, never alone.
    colorMode: "background",
    graphMode: "none",
    justifyMode: "auto",
    orientation: "auto",
    textMode: show ?? "value",
  }),
  "table": () => ({ showHeader: true, cellHeight: "sm" }),
  "state-timeline": () => ({
    mergeValues: true,
    showValue: "auto",
    alignValue: "left",
    rowHeight: 0.9,
    legend,
    tooltip: { mode: "single", sort: "none" },
  }),
  "timeseries": () => ({ legend, tooltip: { mode: "multi", sort: "desc" } }),
};

function overrides(panel: Panel): readonly object[] {
  const limits = (panel.dashed ?? []).map((name) => ({
    matcher: { id: "byName", options: name },
    properties: [{ id: "custom.lineStyle", value: { fill: "dash", dash: [10, 10] } }],
  }));
  const units = (panel.queries ?? [])
    .filter(({ unit }) => unit !== undefined)
    .map(({ column, unit }) => ({
      matcher: { id: "byName", options: column },
      properties: [{ id: "unit", value: unit }],
    }));
  return [...limits, ...units, ...nameOverrides(panel)];
}

/** One row for each object, and a column for each query. */
function transformations(queries: readonly Query[]): readonly object[] {
  const names = queries.map(({ column = "" }, index) => [
    queries.length === 1 ? "Value" : `Value #${refId(index)}`,
    column,
  ]);
  return [
    { id: "merge", options: {} },
    {
      id: "organize",
      options: { excludeByName: { Time: true }, indexByName: {}, renameByName: Object.fromEntries(names) as object },
    },
  ];
}
