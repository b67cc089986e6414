import { parse, stringify } from "yaml";
import { alertFiles, chartRulesFile, placeholder } from "../alerts.ts";
import type { Read } from "../kustomization.ts";
import { readBoard, type Board } from "./board.ts";
import { dashboard } from "./dashboard.ts";

export const boardNames = ["cluster", "node", "pod"] as const;
const folder = "deploy/grafana";
const note = "# Rendered by `npm run deploy:render` from deploy/grafana/boards. Edit those files.\n";

/** The boards in every form in which they are shipped, and what the mixin needs beside them. */
export function grafanaFiles(read: Read): ReadonlyMap<string, string> {
  const boards = boardNames.map((name) => boardOf(name, read));
  return new Map([
    ...boards.flatMap((board): readonly [string, string][] => [
      [`${folder}/dashboards/${board.uid}.json`, pretty(dashboard(board))],
      [`deploy/helm/levee/dashboards/${board.uid}.json`, compact(board)],
    ]),
    [`${folder}/config-maps.yaml`, note + boards.map((board) => `---\n${configMap(board)}`).join("")],
    [`${folder}/mixin/rules.libsonnet`, mixinRules(alertFiles(read).get(chartRulesFile) ?? "")],
    [`${folder}/mixin/config.json`, pretty(mixinConfig(read))],
  ]);
}

/** The source of one board. */
export function boardOf(name: (typeof boardNames)[number], read: Read): Board {
  const path = `${folder}/boards/${name}.yaml`;
  const text = read(path);
  if (text === undefined) throw new Error(`Cannot render the boards: there is no ${path}`);
  return readBoard(path, text);
}

function pretty(value: object): string {
  return `${JSON.stringify(value, undefined, 2)}\n`;
}

/** Without blanks: the same board is in four places. */
function compact(board: Board): string {
  return `${JSON.stringify(dashboard(board))}\n`;
}

/** The sidecar of Grafana's chart finds it by its label. */
function configMap(board: Board): string {
  return stringify(
    {
      apiVersion: "v1",
      kind: "ConfigMap",
      metadata: {
        name: `${board.uid}-board`,
        namespace: "levee-system",
        labels: { "app.kubernetes.io/name": "levee", "grafana_dashboard": "1" },
        annotations: { grafana_folder: "Levee" },
      },
      data: { [`${board.uid}.json`]: compact(board) },
    },
    { lineWidth: 0 },
  );
}

/**
 * The rules as a function of the values: jsonnet reads YAML slowly, and Debian's not at all if it has several lines. The
 * texts of JSON are texts of jsonnet.
 */
function mixinRules(rules: string): string {
  const { groups } = parse(rules) as { readonly groups: readonly object[] }; // our own file
  const filled = JSON.stringify(groups, undefined, 2).replaceAll(placeholder, '" + text(values.$1) + "');
  return `// Rendered by \`npm run deploy:render\` from deploy/alerts/alerts.source.yaml. Edit that file.
local text(value) = if std.isNumber(value) then '%g' % value else value;
function(values) ${filled}
`;
}

/** The chart's values for the rules. Whether and how objects are made is the chart's own business. */
function mixinConfig(read: Read): object {
  const { alerts } = parse(read("deploy/helm/levee/values.yaml") ?? "") as {
    alerts: Readonly<Record<string, unknown>>;
  }; // our own file
  const { enabled: _enabled, podMonitor: _podMonitor, labels: _labels, ...config } = alerts;
  return config;
}
