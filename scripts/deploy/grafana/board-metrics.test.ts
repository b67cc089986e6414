import { readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { describe, expect, test } from "bun:test";
import { plain, tableRows } from "../../check/pages/markdown.ts";
import { boardNames, boardOf } from "./grafana-files.ts";

const root = resolve(import.meta.dir, "../../..");
const read = (path: string): string => readFileSync(join(root, path), "utf8");

/** Metrics of others that the boards use, by the program that exports them. */
const exporters: Readonly<Record<string, readonly string[]>> = {
  "kube-state-metrics": [
    ...["kube_pod_info", "kube_pod_owner", "kube_pod_status_phase", "kube_pod_status_scheduled_time"],
    ...["kube_pod_status_ready_time", "kube_pod_container_status_restarts_total"],
  ],
  "kubelet": ["kubelet_node_name"],
  "kube-apiserver": ["apiserver_request_total"],
  "Prometheus": ["ALERTS"],
};

/** Our own metrics with their labels, from the page that a check compares with the code. */
const ours = new Map(
  (tableRows(read("docs/metrics.md"), ["metric", "type", "labels", "meaning"]) ?? []).map(({ cells }) => [
    plain(cells[0]),
    { type: cells[1] ?? "", labels: (cells[2] ?? "").split(/,\s*/u) },
  ]),
);
const recorded = new Set(
  [...read("deploy/alerts/levee.rules.yaml").matchAll(/record: (\S+)/gu)].map(([, name]) => name),
);
/** Labels that the scrape gives to every series of ours. */
const ofTarget = ["cluster", "node", "instance", "namespace", "pod", "container"];

const expressions = boardNames.flatMap((name) => {
  const { rows, variables, alerts } = boardOf(name, read);
  const queries = rows.flatMap(({ panels }) =>
    panels.flatMap((panel) => (panel.queries ?? []).map(({ expr }) => expr)),
  );
  return [...queries, alerts, ...variables.map(({ query }) => query)];
});
const selectors = expressions.flatMap((expr) => [...expr.matchAll(/([a-zA-Z_:][\w:]*)\{([^}]*)\}/gu)]);

test("every metric is on docs/metrics.md, a recording of the alerts, or of a named exporter", () => {
  const others = new Set(Object.values(exporters).flat());
  const unknown = selectors
    .map(([, name = ""]) => name.replace(/_bucket$/u, ""))
    .filter((name) => !ours.has(name) && !recorded.has(name) && !others.has(name));
  expect(unknown).toEqual([]);
  const used = new Set(selectors.map(([, name]) => name));
  expect([...others].filter((name) => !used.has(name))).toEqual([]);
});

test("every selector of a metric of ours uses labels that it has", () => {
  for (const [, name = "", matchers = ""] of selectors) {
    const metric = ours.get(name.replace(/_bucket$/u, ""));
    if (metric === undefined) continue;
    expect(`${name} is a ${metric.type}`).toBe(`${name} is a ${name.endsWith("_bucket") ? "histogram" : metric.type}`);
    const labels = [...matchers.matchAll(/(\w+)(?:=~|!~|!=|=)/gu)].map(([, label]) => label ?? "");
    expect(labels.filter((label) => ![...metric.labels, ...ofTarget].includes(label))).toEqual([]);
  }
});

describe("every selector", () => {
  const names = [...ours.keys(), ...recorded, ...Object.values(exporters).flat()];

  test("is of the chosen cluster only", () => {
    for (const [text, , matchers] of selectors) expect(`${text}: ${matchers}`).toContain('cluster="$cluster"');
  });

  test("has braces, except in the list of clusters", () => {
    const bare = expressions
      .filter((expr) => !/^label_values\(\w+, cluster\)$/u.test(expr))
      .filter((expr) => names.some((name) => new RegExp(`(?<![\\w:"])${name}(?![\\w:{])`, "u").test(expr)));
    expect(bare).toEqual([]);
  });
});

test("rates and increases are of counters and histograms, and nothing else is", () => {
  for (const expr of expressions)
    for (const [, name = ""] of expr.matchAll(/\b(?:rate|increase)\((\w+)\{/gu)) {
      const type = ours.get(name.replace(/_bucket$/u, ""))?.type ?? "counter";
      expect(`${name}: ${type}`).toMatch(/: (?:counter|histogram)$/u);
    }
});
