import { parse } from "yaml";

/** A board as deploy/grafana/boards/ has it: questions, each with the expressions that answer it. */
export interface Board {
  /** Links and bookmarks hold on to it, so it never changes. */
  readonly uid: string;
  readonly title: string;
  readonly description: string;
  readonly variables: readonly Variable[];
  /** The alerts that are drawn into every plot. */
  readonly alerts: string;
  readonly rows: readonly Row[];
}

export interface Variable {
  readonly name: string;
  readonly label: string;
  readonly query: string;
}

export interface Row {
  /** A question. */
  readonly title: string;
  readonly panels: readonly Panel[];
}

export interface Panel {
  readonly title: string;
  readonly kind: PanelKind;
  /** Width of 24 columns, and height. */
  readonly size: readonly [number, number];
  readonly description: string;
  readonly unit?: string;
  readonly queries?: readonly Query[];
  /** Words for values. */
  readonly values?: Readonly<Record<string, string>>;
  /** Colours from a value on; below the first it is green. */
  readonly from?: Colours;
  /** Colours below a value; above the last it is green. */
  readonly below?: Colours;
  /** What a number says when there is no series. */
  readonly empty?: string;
  /** `name` shows the legend instead of the value. */
  readonly show?: "name";
  readonly stacked?: boolean;
  /** Legends that are limits. */
  readonly dashed?: readonly string[];
  /** The board that a node or a namespace in the panel leads to. */
  readonly link?: "node" | "pod";
  /** Markdown, for a panel without queries. */
  readonly text?: string;
}

export type Colours = Readonly<Record<string, string>>;

const panelKinds = ["stat", "timeseries", "state-timeline", "table", "text"] as const;
type PanelKind = (typeof panelKinds)[number];
export type QueryKind = Exclude<PanelKind, "text">;

export interface Query {
  readonly expr: string;
  readonly legend?: string;
  /** The name of its column in a table, and the column's unit if it is not the panel's. */
  readonly column?: string;
  readonly unit?: string;
}

const panelKeys = new Set([
  ...["title", "kind", "size", "description", "unit", "queries", "values", "from", "below", "empty", "show"],
  ...["stacked", "dashed", "link", "text"],
]);

/** Reads a source. A misspelt key would be a colour or a unit that silently goes missing, so it is refused. */
export function readBoard(path: string, text: string): Board {
  const board = parse(text) as Board; // our own file; the parts that people get wrong are checked below
  for (const { panels } of board.rows)
    for (const panel of panels) {
      const problem = panelProblem(panel);
      if (problem !== undefined) throw new Error(`Cannot render ${path}: the panel "${panel.title}" ${problem}`);
    }
  return board;
}

function panelProblem(panel: Panel): string | undefined {
  const stranger = Object.keys(panel).find((key) => !panelKeys.has(key));
  if (stranger !== undefined) return `has the unknown key ${stranger}`;
  if (!panelKinds.includes(panel.kind)) return `is of the unknown kind ${String(panel.kind)}`;
  if (panel.kind === "text") return panel.text === undefined ? "has no text" : undefined;
  return queryProblem(panel);
}

function queryProblem({ kind, unit, queries = [] }: Panel): string | undefined {
  if (unit === undefined) return "has no unit";
  if (queries.length === 0) return "has no queries";
  const name = kind === "table" ? "column" : "legend";
  // A single number needs no name.
  const isNamed = kind === "stat" || queries.every((query) => query[name] !== undefined);
  return isNamed ? undefined : `has a query without a ${name}`;
}
