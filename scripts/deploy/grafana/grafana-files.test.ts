import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { describe, expect, test } from "bun:test";
import { parse, parseAllDocuments } from "yaml";
import { builtHelm } from "../../../test/peers/helm.ts";
import type { GridPos } from "./grafana-panel.ts";
import { boardNames, boardOf, grafanaFiles } from "./grafana-files.ts";

const root = resolve(import.meta.dir, "../../..");
const read = (path: string): string => readFileSync(join(root, path), "utf8");
const files = grafanaFiles(read);

interface Dashboard {
  readonly uid: string;
  readonly schemaVersion: number;
  readonly templating: { readonly list: readonly { readonly name: string; readonly type: string }[] };
  readonly panels: readonly {
    readonly id: number;
    readonly type: string;
    gridPos: GridPos;
    targets?: readonly object[];
  }[];
}

const dashboards = boardNames.map(
  (name) => [name, JSON.parse(files.get(`deploy/grafana/dashboards/levee-${name}.json`) ?? "") as Dashboard] as const, // made of our own sources
);

test("the addresses of the boards do not change", () => {
  expect(dashboards.map(([, { uid }]) => uid)).toEqual(["levee-cluster", "levee-node", "levee-pod"]);
});

describe.each(dashboards)("the dashboard of the %s", (_name, board) => {
  test("is of the model that Grafana 10.4 and newer read", () => {
    expect(board).toMatchObject({ id: null, schemaVersion: 39, tags: ["levee"], editable: true });
    expect(board.templating.list.slice(0, 2).map(({ name, type }) => [name, type])).toEqual([
      ["datasource", "datasource"],
      ["cluster", "query"],
    ]);
    for (const { type, targets } of board.panels) {
      expect(["row", "stat", "table", "text", "timeseries", "state-timeline"]).toContain(type);
      for (const target of targets ?? [])
        expect(target).toMatchObject({ datasource: { type: "prometheus", uid: "${datasource}" } });
    }
  });

  test("has an id of its own for each panel, and no panel upon another", () => {
    expect(new Set(board.panels.map(({ id }) => id)).size).toBe(board.panels.length);
    const taken = new Set<string>();
    for (const { gridPos } of board.panels) {
      expect(gridPos.x + gridPos.w).toBeLessThanOrEqual(24);
      for (let x = gridPos.x; x < gridPos.x + gridPos.w; x += 1)
        for (let y = gridPos.y; y < gridPos.y + gridPos.h; y += 1) taken.add(`${x},${y}`);
    }
    expect(taken.size).toBe(board.panels.reduce((sum, { gridPos }) => sum + gridPos.w * gridPos.h, 0));
  });
});

describe.each(boardNames)("the source of the %s", (name) => {
  const { rows, description } = boardOf(name, read);
  const panels = rows.flatMap((row) => row.panels);

  test("asks questions, and explains each panel in a sentence", () => {
    expect(description).toMatch(/^[A-Z].*\.$/u);
    for (const { title } of rows) expect(title).toEndWith("?");
    for (const panel of panels) expect(`${panel.title}: ${panel.description}`).toMatch(/: [A-Z9].{30,}\.$/u);
  });

  test("has a unit of Grafana for every number", () => {
    const units = panels.flatMap(({ unit, queries = [] }) => [unit, ...queries.map((query) => query.unit)]);
    for (const unit of units)
      expect([undefined, "none", "short", "s", "bytes", "percentunit", "cps", "reqps"]).toContain(unit);
  });

  test("gives no two queries of a panel the same name", () => {
    for (const { queries = [] } of panels) {
      const names = queries.map(({ legend, column }) => legend ?? column);
      expect(new Set(names).size).toBe(names.length);
    }
  });
});

describe("readBoard", () => {
  const source = read("deploy/grafana/boards/node.yaml");

  function problem(from: string, to: string): () => unknown {
    expect(source).toContain(from);
    return () => grafanaFiles((path) => (path.endsWith("node.yaml") ? source.replace(from, to) : read(path)));
  }

  test.each([
    ["unit: none", "units: none", 'the panel "Daemon" has the unknown key units'],
    ["kind: stat", "kind: gauge", 'the panel "Daemon" is of the unknown kind gauge'],
    ["        unit: none\n", "", 'the panel "Daemon" has no unit'],
    ["            legend: '{{class}}'\n", "", "has a query without a legend"],
    ["            column: not ready\n", "", "has a query without a column"],
    [
      "queries:\n          - expr: max(levee_ready",
      "queries: []\n        text: |\n          max(levee_ready",
      "has no queries",
    ],
  ])("refuses a panel in which %j is %j", (from, to, said) => {
    expect(problem(from, to)).toThrow(said);
  });

  test("refuses a text without text, and a board that is not there", () => {
    const other = read("deploy/grafana/boards/pod.yaml").replace("        text: |", "        empty: |");
    expect(() => grafanaFiles((path) => (path.endsWith("pod.yaml") ? other : read(path)))).toThrow("has no text");
    expect(() => grafanaFiles((path) => (path.includes("boards/") ? undefined : read(path)))).toThrow(
      "there is no deploy/grafana/boards/cluster.yaml",
    );
  });
});

interface ConfigMap {
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly labels: object };
  readonly data: Readonly<Record<string, string>>;
}

function configMaps(text: string): readonly ConfigMap[] {
  return parseAllDocuments(text)
    .map((each) => each.toJS() as ConfigMap | null) // made of our own sources
    .filter((each) => each !== null)
    .filter(({ kind, metadata }) => kind === "ConfigMap" && metadata.name.endsWith("-board"));
}

const shipped = configMaps(files.get("deploy/grafana/config-maps.yaml") ?? "");

test("each ConfigMap holds its board under the usual label, small enough for kubectl apply", () => {
  expect(shipped.map(({ data }) => Object.keys(data)[0])).toEqual(dashboards.map(([, { uid }]) => `${uid}.json`));
  for (const { metadata, data } of shipped) {
    expect(metadata.labels).toMatchObject({ grafana_dashboard: "1" });
    const [file = "", text = ""] = Object.entries(data)[0] ?? [];
    const board: unknown = dashboards.find(([, { uid }]) => `${uid}.json` === file)?.[1];
    expect(JSON.parse(text) as unknown).toEqual(board);
    // kubectl keeps a copy in an annotation, and all annotations together may have 256 KiB.
    expect(text.length).toBeLessThan(128 * 1024);
  }
});

describe("the mixin", () => {
  function jsonnet(code: string): unknown {
    const { status, stdout, stderr } = spawnSync("jsonnet", ["-e", code], { cwd: root, encoding: "utf8" });
    expect({ status, stderr }).toEqual({ status: 0, stderr: "" });
    return JSON.parse(stdout);
  }
  const mixin = "(import 'deploy/grafana/mixin.libsonnet')";

  test("has the same boards and the same rules as the plain files", () => {
    expect(jsonnet(`${mixin}.grafanaDashboards`)).toEqual(
      Object.fromEntries(dashboards.map(([, board]) => [`${board.uid}.json`, board])),
    );
    expect(jsonnet(`${mixin}.prometheusAlerts`)).toEqual(parse(read("deploy/alerts/levee.rules.yaml")));
    expect(jsonnet(`${mixin}.prometheusRules`)).toEqual({ groups: [] });
  });

  test("takes names and thresholds from _config, and joins other mixins", () => {
    const other =
      "{ _config+:: { levee+: { thresholds+: { memoryPressure: 0.5 }, cni+: { pod: 'cni-.+' } }, more: 1 } }";
    const groups = JSON.stringify(
      jsonnet(`({ prometheusAlerts:: { groups: [1] } } + ${mixin} + ${other}).prometheusAlerts`),
    );
    expect(groups).toStartWith('{"groups":[1,{');
    expect(groups).toContain(") > 0.5\\n");
    expect(groups).toContain('pod=~\\"cni-.+\\"');
    expect(groups).not.toMatch(/%[a-zA-Z.]+%|kube-multus-ds/u);
  });
});

const helm = builtHelm();

describe.skipIf(helm === undefined)("the chart", () => {
  function template(...values: readonly string[]): ReturnType<typeof configMaps> {
    const digest = `image.digest=sha256:${"1".repeat(64)}`;
    const args = ["template", "levee", join(root, "deploy/helm/levee"), "-n", "levee-system", "--kube-version=1.34.5"];
    const sets = [digest, ...values].flatMap((value) => ["--set-string", value]);
    const enabled = values.length === 0 ? [] : ["--set", "grafana.enabled=true"];
    const { status, stdout, stderr } = spawnSync(helm ?? "", [...args, ...sets, ...enabled], { encoding: "utf8" });
    expect({ status, stderr }).toEqual({ status: 0, stderr: "" });
    return configMaps(stdout);
  }

  test("has the boards when they are enabled, and only then", () => {
    expect(template()).toEqual([]);
    expect(template("grafana.namespace=")).toEqual(shipped);
  });

  test("takes namespace and label from the values", () => {
    const made = template("grafana.namespace=monitoring", "grafana.labels.mine=yes");
    for (const { metadata } of made)
      expect(metadata).toMatchObject({ namespace: "monitoring", labels: { mine: "yes" } });
  });
});
