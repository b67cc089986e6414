import type { Board, Panel, Row, Variable } from "./board.ts";
import { otherBoards } from "./board-links.ts";
import { grafanaPanel, prometheus } from "./grafana-panel.ts";

/** The version of Grafana's model that these fields are of. Grafana 10.4 and newer read it, and migrate it if they must. */
const schemaVersion = 39;
const columns = 24;

/** A board as Grafana imports it. */
export function dashboard(board: Board): object {
  return {
    uid: board.uid,
    id: null,
    title: board.title,
    description: board.description,
    tags: ["levee"],
    schemaVersion,
    version: 1,
    editable: true,
    graphTooltip: 1,
    refresh: "30s",
    time: { from: "now-3h", to: "now" },
    timepicker: {},
    timezone: "browser",
    fiscalYearStartMonth: 0,
    weekStart: "",
    liveNow: false,
    links: [otherBoards],
    annotations: { list: [alertsIn(board)] },
    templating: { list: [dataSource, ...board.variables.map(variable)] },
    panels: panelsOf(board.rows),
  };
}

function alertsIn({ alerts }: Board): object {
  return {
    name: "Alerts of Levee",
    datasource: prometheus,
    enable: true,
    hide: false,
    iconColor: "red",
    expr: alerts,
    step: "60s",
    titleFormat: "{{alertname}}",
    textFormat: "{{node}} {{namespace}} {{pod}}",
  };
}

const dataSource = {
  name: "datasource",
  label: "Data source",
  type: "datasource",
  query: "prometheus",
  regex: "",
  refresh: 1,
  hide: 0,
  includeAll: false,
  multi: false,
  options: [],
  skipUrlSync: false,
};

/** Without a label `cluster` its list is empty and its value "", which selects the series that have none. */
function variable({ name, label, query }: Variable): object {
  return {
    name,
    label,
    type: "query",
    datasource: prometheus,
    query,
    regex: "",
    // When the time changes: nodes and pods come and go.
    refresh: 2,
    sort: 1,
    hide: 0,
    includeAll: false,
    multi: false,
    options: [],
    skipUrlSync: false,
  };
}

/** Fills the grid row by row, from left to right. */
function panelsOf(rows: readonly Row[]): readonly object[] {
  const made: object[] = [];
  let y = 0;
  for (const { title, panels } of rows) {
    made.push({ id: made.length + 1, type: "row", title, collapsed: false, panels: [], gridPos: rowPos(y) });
    y += 1;
    for (const line of linesOf(panels)) {
      let x = 0;
      for (const panel of line) {
        const [w, h] = panel.size;
        made.push(grafanaPanel(panel, made.length + 1, { h, w, x, y }));
        x += w;
      }
      y += Math.max(...line.map(({ size }) => size[1]));
    }
  }
  return made;
}

function rowPos(y: number): object {
  return { h: 1, w: columns, x: 0, y };
}

function linesOf(panels: readonly Panel[]): readonly (readonly Panel[])[] {
  const lines: Panel[][] = [];
  let free = 0;
  for (const panel of panels) {
    if (panel.size[0] > free) {
      lines.push([]);
      free = columns;
    }
    lines.at(-1)?.push(panel);
    free -= panel.size[0];
  }
  return lines;
}
