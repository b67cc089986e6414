import { parse } from "yaml";
import type { Read } from "./kustomization.ts";

/** The fields of a Prometheus rule that we read. It is an alert or a recording. */
interface Rule {
  readonly alert?: string;
  readonly record?: string;
  readonly expr: string;
  readonly for?: string;
  readonly keep_firing_for?: string;
  readonly labels?: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
}

export interface RuleFile {
  readonly groups: readonly { readonly name: string; readonly rules: readonly Rule[] }[];
}

const sourceFile = "deploy/alerts/alerts.source.yaml";
export const rulesFile = "deploy/alerts/levee.rules.yaml";
export const chartRulesFile = "deploy/helm/levee/alerts/rules.yaml";
export const kuredFile = "deploy/alerts/kured-values.yaml";
/** A word of the source that stands for one of the chart's values. */
export const placeholder = /%([a-zA-Z]+(?:\.[a-zA-Z]+)?)%/gu;
const note = "# Rendered by `npm run deploy:render` from deploy/alerts/alerts.source.yaml. Edit that file.\n";

/** The alerts in every form in which they are shipped. */
export function alertFiles(read: Read): ReadonlyMap<string, string> {
  const source = mustRead(sourceFile, read);
  const rules = withDefaults(withoutHead(source), read);
  return new Map([
    [rulesFile, note + rules],
    ["deploy/alerts/prometheus-rule.yaml", note + prometheusRule(rules)],
    [chartRulesFile, note + withoutHead(source)],
    [kuredFile, kuredValues(alertNames(rules))],
  ]);
}

/** The alert names of a rule file, each once, in the file's order. */
export function alertNames(rules: string): readonly string[] {
  const { groups } = parse(rules) as RuleFile; // our own file, and promtool checks it
  return [...new Set(groups.flatMap((group) => group.rules.flatMap(({ alert }) => alert ?? [])))];
}

/** The comment at the top is about the source only. */
function withoutHead(source: string): string {
  return source.slice(source.indexOf("groups:"));
}

/** Replaces the words between % with the chart's values. */
function withDefaults(source: string, read: Read): string {
  const { alerts } = parse(mustRead("deploy/helm/levee/values.yaml", read)) as { alerts?: unknown }; // our own file
  return source.replace(placeholder, (word, path: string) => {
    let value: unknown = alerts;
    for (const name of path.split(".")) value = (value as Readonly<Record<string, unknown>> | undefined)?.[name]; // a value of our own chart, or nothing
    if (typeof value !== "string" && typeof value !== "number")
      throw new Error(`Cannot render ${sourceFile}: the chart's values have no alerts.${path} for ${word}`);
    return String(value);
  });
}

function prometheusRule(rules: string): string {
  const spec = rules.replaceAll(/^(?=.)/gmu, "  ");
  return `apiVersion: monitoring.coreos.com/v1
kind: PrometheusRule
metadata:
  name: levee
  namespace: levee-system
  labels:
    app.kubernetes.io/name: levee
spec:
${spec}`;
}

/**
 * kured waits while any alert fires that this expression does not match, and it can match names only. An alert of ours
 * that only a reboot ends would block the reboot for ever, so the expression has all our alerts.
 */
function kuredValues(names: readonly string[]): string {
  return `${note}# Values for kured's chart, or its flags --alert-filter-regexp and --alert-firing-only. Add your own names to the list.
configuration:
  alertFiringOnly: true
  alertFilterRegexp: "^(${["Watchdog", "InfoInhibitor", ...names].join("|")})$"
`;
}

function mustRead(path: string, read: Read): string {
  const text = read(path);
  if (text === undefined) throw new Error(`Cannot render the alerts: there is no ${path}`);
  return text;
}
