import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expansion, selector, type Series } from "./series.ts";

/** Something that happened, and which alerts fire in which minutes. Every other alert must be silent in every minute. */
export interface Scenario {
  readonly name: string;
  readonly minutes: number;
  /** Minutes between two looks, for what takes a day; else one. */
  readonly every?: number;
  readonly series: readonly Series[];
  readonly fires: readonly Firing[];
}

export interface Firing {
  readonly alert: string;
  readonly severity: "warning" | "critical";
  /** Labels that tell it from others of its name: cluster, namespace, pod, node, source, scope, resource, reason, mismatch, network, daemonset. */
  readonly of: Readonly<Record<string, string>>;
  /** First minute in which it fires, and the last; to the end when there is none. */
  readonly from: number;
  readonly to?: number;
}

const told = [
  "alertname",
  "severity",
  "cluster",
  "namespace",
  "pod",
  "node",
  "source",
  "scope",
  "resource",
  "reason",
  "mismatch",
  "network",
  "daemonset",
];

/** Asks the real promtool, minute by minute, whether exactly these alerts fire. Empty when they do. */
export function replay(scenario: Scenario, rules: string): string {
  const { minutes, every = 1, fires } = scenario;
  const expr = `count by (${told.join(", ")}) (ALERTS{alertstate="firing"})`;
  const at = Array.from({ length: Math.floor(minutes / every) + 1 }, (_, index) => index * every);
  const questions = at.map((minute) => ({
    expr,
    minute,
    answer: fires
      .filter(({ from, to = Infinity }) => from <= minute && minute <= to)
      .map((firing) => ({ labels: alertSelector(firing), value: 1 })),
  }));
  return askPromtool(scenario, questions, rules);
}

/** An expression, and what Prometheus answers in one minute of a replay. */
export interface Question {
  readonly expr: string;
  readonly minute: number;
  readonly answer: readonly { readonly labels: string; readonly value: number }[];
}

/** Has promtool replay the series beside the rules. Empty when every answer is as told. */
export function askPromtool(scenario: Omit<Scenario, "fires">, questions: readonly Question[], rules: string): string {
  const folder = mkdtempSync(join(tmpdir(), "levee-replay-"));
  try {
    writeFileSync(join(folder, "rules.yaml"), rules);
    // JSON is YAML.
    writeFileSync(join(folder, "test.yaml"), JSON.stringify(promtoolTest(scenario, questions)));
    const { status, stdout, stderr, error } = spawnSync("promtool", ["test", "rules", join(folder, "test.yaml")], {
      encoding: "utf8",
      maxBuffer: 64 * 1024 * 1024,
    });
    if (error !== undefined) throw error;
    return status === 0 ? "" : `${scenario.name}:\n${stdout}${stderr}`;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function promtoolTest(
  { name, minutes, every = 1, series }: Omit<Scenario, "fires">,
  questions: readonly Question[],
): unknown {
  const at = Array.from({ length: Math.floor(minutes / every) + 1 }, (_, index) => index * every);
  return {
    rule_files: ["rules.yaml"],
    evaluation_interval: `${every}m`,
    tests: [
      {
        name,
        interval: `${every}m`,
        input_series: series.map((each) => ({
          series: selector(each),
          values: expansion(at.map((minute) => each.at(minute))),
        })),
        promql_expr_test: questions.map(({ expr, minute, answer }) => ({
          expr,
          eval_time: `${minute}m`,
          exp_samples: answer,
        })),
      },
    ],
  };
}

function alertSelector({ alert, severity, of }: Firing): string {
  return selector({ name: "", labels: { alertname: alert, severity, ...of } });
}
