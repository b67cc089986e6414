import type { Command } from "commander";
import { addressBlock } from "../../lint/addresses/address-range.ts";
import { lint } from "../../lint/lint.ts";
import { unknownCluster, type LintCluster, type LintNetwork } from "../../lint/lint-objects.ts";
import type { LintFinding } from "../../lint/lint-finding.ts";
import { contextOf, examples } from "../command-line.ts";
import type { Context } from "../context.ts";
import { failOnOf, type FailOn } from "../fail-on.ts";
import { CommandFailure, usageFailure } from "../failure.ts";
import { withCluster } from "../cluster/with-cluster.ts";
import { paintFor } from "../terminal/paint.ts";
import { plural } from "../terminal/plural.ts";
import { print, type OutputFormat } from "../terminal/print.ts";
import type { Shell } from "../shell.ts";
import { compareNetworks } from "./compare-networks.ts";
import { readLintCluster, type ClusterReading } from "./lint-cluster.ts";
import { lintFiles } from "./lint-files.ts";
import { lintKustomization } from "./lint-kustomization.ts";
import { countFindings, githubText, reportText, reportValue, sortedFindings, type LintReport } from "./lint-report.ts";
import { sarifText } from "./lint-sarif.ts";
import { joinSources, type LintSources } from "./lint-sources.ts";

interface LintOptions {
  readonly kustomize?: readonly string[];
  readonly namespace?: string;
  readonly allNamespaces?: boolean;
  readonly againstCluster?: boolean;
  readonly podCidr: readonly string[];
  readonly serviceCidr: readonly string[];
  readonly namespaceIsolation?: string | boolean;
  readonly failOn: string;
  readonly kubeconfig?: string;
  readonly context?: string;
}

const formats: readonly OutputFormat[] = ["table", "wide", "json", "yaml", "sarif", "github"];

export function addLint(program: Command, shell: Shell): void {
  const collect = (value: string, earlier: readonly string[]): readonly string[] => [...earlier, value];
  const command = program
    .command("lint")
    .description("Check network definitions in files or in the cluster before a pod needs them")
    .argument("[files...]", "YAML or JSON files, folders of them, or - for standard input")
    .option("-k, --kustomize <folder>", "the resources of a kustomization, read offline (repeatable)", collect, [])
    .option("-n, --namespace <name>", "the networks and pods of this namespace in the cluster")
    .option("-A, --all-namespaces", "those of the whole cluster")
    .option("--against-cluster", "compare files with the cluster: edits of networks that pods use, ranges, resources")
    .option("--pod-cidr <cidr>", "addresses of the cluster's pods, for files (repeatable)", collect, [])
    .option("--service-cidr <cidr>", "addresses of the cluster's services, for files (repeatable)", collect, [])
    .option("--namespace-isolation [namespaces]", "pods may only use networks of their own and of these namespaces")
    .option("--fail-on <what>", "warning or error: the least severe finding that fails the command", "error")
    .option("--kubeconfig <file>", "kubeconfig file, as for kubectl (KUBECONFIG; default: ~/.kube/config)")
    .option("--context <name>", "context in the kubeconfig")
    .addHelpText("after", helpText);
  command.action(async (files: readonly string[], options: LintOptions) => {
    const context = contextOf(command, shell, formats);
    const countsFrom = failOnOf(options.failOn);
    const report = await reportOf(context, files, options);
    show(context, report);
    endWith(report, countsFrom);
  });
}

const helpText = [
  "\nEach finding has a code: levee explain CODE. -o table, json, yaml, sarif or github (workflow commands).",
  "Files need no cluster. Documents that do not speak of networks are not parsed.",
  examples(
    "levee lint networks/ apps/",
    "levee lint -k overlays/prod --fail-on warning",
    "helm template web charts/web | levee lint - -o github",
    "levee lint networks/ --against-cluster",
    "levee lint -n prod",
  ),
  "Exit status: 0 no errors, 1 errors (with --fail-on warning also warnings), 2 wrong command line, 3 the cluster cannot be\nreached or refuses, 130 interrupted.",
].join("\n");

async function reportOf(context: Context, files: readonly string[], options: LintOptions): Promise<LintReport> {
  const folders = options.kustomize ?? [];
  const isCluster = options.namespace !== undefined || options.allNamespaces === true;
  const isFiles = files.length > 0 || folders.length > 0;
  if (isCluster === isFiles)
    throw usageFailure(
      isFiles
        ? "Cannot use files together with -n or -A"
        : "Cannot lint nothing: name files, -k FOLDER, -n NAMESPACE or -A",
      isFiles ? "levee lint FILES --against-cluster" : "levee lint .",
    );
  const given = givenCluster(options);
  if (isCluster) return clusterReport(await readCluster(context, options, undefined), options.namespace, given);
  const parts: LintSources[] = [await lintFiles(files, context.shell.input)];
  for (const folder of folders) parts.push(await lintKustomization(folder));
  const sources = joinSources(parts);
  const reading = options.againstCluster === true ? await readCluster(context, options, sources.networks) : undefined;
  return fileReport(sources, reading, given);
}

function readCluster(
  { shell }: Context,
  options: LintOptions,
  files: readonly LintNetwork[] | undefined,
): Promise<ClusterReading> {
  const { namespace } = options;
  return withCluster(shell, options, (api) => readLintCluster(api, { namespace, files }, shell.interrupted));
}

function clusterReport(reading: ClusterReading, namespace: string | undefined, given: LintCluster): LintReport {
  const { networks, pods, unseen } = reading;
  // Ranges of other namespaces count, but findings about their objects are not asked for.
  const isAsked = (each: { readonly namespace: string }): boolean =>
    namespace === undefined || each.namespace === namespace;
  const titles = new Set([...networks, ...pods].filter(isAsked).map(({ title }) => title));
  const findings = lint({ networks, pods, cluster: joined(reading.cluster, given) });
  return {
    findings: sortedFindings(findings.filter(({ object }) => titles.has(object))),
    files: undefined,
    networks: networks.filter(isAsked).length,
    pods: pods.filter(isAsked).length,
    unseen,
  };
}

function fileReport(sources: LintSources, reading: ClusterReading | undefined, given: LintCluster): LintReport {
  const { networks, pods, files } = sources;
  // Files are a part of the cluster, so a network that they lack may exist.
  const cluster = reading === undefined ? given : { ...joined(reading.cluster, given), isComplete: false };
  const compared: readonly LintFinding[] = reading === undefined ? [] : compareNetworks(networks, reading);
  const findings = [...sources.findings, ...lint({ networks, pods, cluster }), ...compared];
  return {
    findings: sortedFindings(findings),
    files,
    networks: networks.length,
    pods: pods.length,
    unseen: reading?.unseen ?? [],
  };
}

function joined(cluster: LintCluster, given: LintCluster): LintCluster {
  return {
    ...cluster,
    podCidrs: [...cluster.podCidrs, ...given.podCidrs],
    serviceCidrs: [...cluster.serviceCidrs, ...given.serviceCidrs],
    isolation: given.isolation,
  };
}

function givenCluster({ podCidr, serviceCidr, namespaceIsolation }: LintOptions): LintCluster {
  const wrong = [...podCidr, ...serviceCidr].find((cidr) => addressBlock(cidr) === undefined);
  if (wrong !== undefined)
    throw usageFailure(
      `Cannot use ${JSON.stringify(wrong)} as addresses: it must be such as 10.42.0.0/16`,
      "--pod-cidr 10.42.0.0/16",
    );
  const isIsolated = namespaceIsolation !== undefined && namespaceIsolation !== false;
  const names = typeof namespaceIsolation === "string" ? namespaceIsolation.split(",") : [];
  return {
    ...unknownCluster,
    podCidrs: podCidr,
    serviceCidrs: serviceCidr,
    isolation: isIsolated ? { globalNamespaces: names.map((name) => name.trim()) } : undefined,
  };
}

function show({ shell, settings }: Context, report: LintReport): void {
  print(shell.stdout, settings.output, {
    value: reportValue(report),
    text: () => reportText(report, paintFor(shell.stdout, shell.env)),
    sarif: () => sarifText(report),
    github: () => githubText(report),
  });
}

function endWith(report: LintReport, countsFrom: FailOn): void {
  const [errors, warnings] = [countFindings(report, "error"), countFindings(report, "warning")];
  const counted = errors + (countsFrom === "warning" ? warnings : 0);
  if (counted === 0) return;
  const what =
    countsFrom === "warning"
      ? `${plural(errors, "error")} and ${plural(warnings, "warning")}`
      : plural(errors, "error");
  throw new CommandFailure("lint-failed", `The networks have ${what}`, {
    remedy: "levee explain CODE explains each one",
  });
}
