import { spawnSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { describe, expect, test } from "bun:test";
import { parse, parseAllDocuments } from "yaml";
import { builtHelm } from "../../test/peers/helm.ts";
import { alertFiles, alertNames, kuredFile, rulesFile, type RuleFile } from "./alerts.ts";

const root = resolve(import.meta.dir, "../..");
const helm = builtHelm();

function read(path: string): string | undefined {
  const full = join(root, path);
  return existsSync(full) ? readFileSync(full, "utf8") : undefined;
}

const files = alertFiles(read);
const plain = parse(files.get(rulesFile) ?? "") as RuleFile; // our own file
const rules = plain.groups.flatMap((group) => group.rules);
const alerts = rules.filter(({ alert }) => alert !== undefined);

describe("alertFiles", () => {
  test("makes the same rules for plain Prometheus and for the operator", () => {
    const made = parse(files.get("deploy/alerts/prometheus-rule.yaml") ?? "") as { kind: string; spec: RuleFile }; // ours
    expect(made.kind).toBe("PrometheusRule");
    expect(made.spec).toEqual(plain);
    expect(alerts.length).toBeGreaterThanOrEqual(15);
  });

  test("refuses a word that the chart's values do not have", () => {
    const other = (path: string): string =>
      path.endsWith("alerts.source.yaml") ? "groups: [%cni.nothing%]\n" : "alerts: {cni: {}}\n";
    expect(() => alertFiles(other)).toThrow("no alerts.cni.nothing for %cni.nothing%");
    expect(() => alertFiles(() => undefined)).toThrow("there is no deploy/alerts/alerts.source.yaml");
  });
});

test.each(alerts.map((rule) => [rule.alert ?? "", rule] as const))(
  "%s says how bad it is, what it is and where to read on",
  (name, rule) => {
    expect(["warning", "critical"]).toContain(rule.labels?.["severity"] ?? "");
    expect(rule.labels).toMatchObject({ product: "levee" });
    // A fixed sentence, because Alertmanager groups by it. The description has the variables.
    expect(rule.annotations?.["summary"]).toMatch(/^[^{]+\.$/u);
    expect(rule.annotations?.["description"]).toMatch(/\.$/u);
    expect(rule.annotations?.["runbook_url"]).toEndWith(`/${name}.md`);
  },
);

test("the rules of one alert differ in their labels, or they would be one alert", () => {
  const told = alerts.map(({ alert, labels }) => JSON.stringify([alert, labels]));
  expect(new Set(told).size).toBe(told.length);
});

test("every grouping and every match keeps the cluster", () => {
  for (const { expr } of rules)
    for (const [clause] of expr.matchAll(/\b(?:by|on) \([^)]*\)/gu)) expect(clause).toMatch(/\((?:.*, )?cluster\b/u);
  // Without `on`, all labels have to agree.
  expect(rules.some(({ expr }) => /\b(?:without|ignoring)\b/u.test(expr))).toBe(false);
});

describe("kured's expression", () => {
  const { configuration } = parse(read(kuredFile) ?? "") as { configuration: { alertFilterRegexp: string } }; // our own file
  const expression = new RegExp(configuration.alertFilterRegexp, "u");

  test.each([...alertNames(read(rulesFile) ?? "")])("lets a node reboot while %s fires", (name) => {
    expect(expression.test(name)).toBe(true);
  });

  test.each([
    "NodeFilesystemAlmostOutOfSpace",
    "KubeNodeNotReady",
    "etcdInsufficientMembers",
    "NotMultusOOMLoop",
    "LeveeBlindness",
  ])("does not let it while %s fires", (name) => {
    expect(expression.test(name)).toBe(false);
  });
});

describe.skipIf(helm === undefined)("the chart", () => {
  function template(...values: readonly string[]): { readonly status: number | null; stdout: string; stderr: string } {
    const digest = `--set=image.digest=sha256:${"1".repeat(64)}`;
    const args = [
      "template",
      "levee",
      join(root, "deploy/helm/levee"),
      "-n",
      "levee-system",
      "--kube-version=1.34.5",
      digest,
    ];
    return spawnSync(helm ?? "", [...args, ...values], { encoding: "utf8" });
  }

  function objects(text: string): readonly { readonly kind: string; readonly spec: RuleFile; metadata: object }[] {
    const all = parseAllDocuments(text).map(
      (each) => each.toJS() as { kind: string; spec: RuleFile; metadata: object } | null,
    ); // made of our own templates
    return all.filter((each) => each !== null).filter(({ kind }) => kind === "PrometheusRule" || kind === "PodMonitor");
  }

  test("has no alerts unless they are enabled", () => {
    const { status, stdout } = template();
    expect({ status, made: objects(stdout) }).toEqual({ status: 0, made: [] });
  });

  test("renders the same rules as the plain files", () => {
    const { stdout } = template("--set=alerts.enabled=true", "--set=alerts.podMonitor=true");
    const shipped = ["pod-monitor", "prometheus-rule"].map(
      (name) => parse(read(`deploy/alerts/${name}.yaml`) ?? "") as object,
    );
    expect(objects(stdout) as readonly object[]).toEqual(shipped);
  });

  test("takes names, thresholds and pages from the values", () => {
    const values = [
      "cni.namespace=net",
      "cni.pod=cni-.+",
      "cni.container=cni",
      "thresholds.backlogWarning=7",
      "labels.release=mine",
    ];
    const more = ["guard.deployment=watch", "ownerless.ignoredNamespaces=ci-.*", "runbooks=https://example.com/x"];
    const set = ["enabled=true", ...values, ...more].map((each) => `--set=alerts.${each}`);
    const { stdout, stderr } = template(...set);
    expect(stderr).toBe("");
    expect(stdout).not.toMatch(/%[a-zA-Z.]+%|kube-multus|kube-system"|levee\.example/u);
    for (const text of [
      'namespace=~"net", pod=~"cni-.+", container=~"cni"',
      "count >= 7",
      "release: mine",
      'deployment=~"watch"',
      'namespace!~"ci-.*"',
      "https://example.com/x/OwnerlessPods.md",
    ])
      expect(stdout).toContain(text);
  });

  test.each([
    ['alerts.cni.pod=a"b', "/alerts/cni/pod"],
    ["alerts.thresholds.memoryPressure=80", "/alerts/thresholds/memoryPressure"],
    ["alerts.thresholds.backlogWarning=200", "alerts.thresholds.backlogWarning: 200 is above backlogCritical (100)"],
    ["alerts.cni.name=x", "name"],
  ])("refuses %s", (value, where) => {
    const { status, stderr } = template("--set=alerts.enabled=true", `--set=${value}`);
    expect(status).not.toBe(0);
    expect(stderr).toContain(where);
  });
});
