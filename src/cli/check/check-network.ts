import type { Command } from "commander";
import { askReports, type NodeOptions } from "./ask-reports.ts";
import { tryNetworks } from "./try-networks.ts";
import { isGood, isUnknownEverywhere, networkVerdicts, verdictTable } from "./network-verdicts.ts";
import { thisNode } from "./this-node.ts";
import { contextOf, examples } from "../command-line.ts";
import { CommandFailure, usageFailure } from "../failure.ts";
import { failOnOf } from "../fail-on.ts";
import { metricsPortDefault } from "../cluster/port-option.ts";
import { plural } from "../terminal/plural.ts";
import { print } from "../terminal/print.ts";
import { withProgress } from "../terminal/progress.ts";
import type { Shell } from "../shell.ts";

interface NetworkOptions extends NodeOptions {
  readonly node?: readonly string[];
  readonly wait?: boolean;
  readonly failOn: string;
  readonly dryRun?: boolean;
}

export function addCheckNetwork(check: Command, shell: Shell): void {
  const command = check
    .command("network")
    .argument("<name>", "the network, as NAMESPACE/NAME or NAME")
    .description("Check whether pods can be attached to a network on every node, or on named ones")
    .option("--node <name...>", "nodes of the cluster to ask; without it and --all, this machine")
    .option("-a, --all", "ask every node of the cluster")
    .option("--dry-run", "also attach, check and detach the network in a throwaway namespace of each node")
    .option("--fail-on <what>", "warning or error: the least severe result that fails the command", "error")
    .option("--metrics-port <port>", "the daemons' metricsPort", metricsPortDefault)
    .option("--kubeconfig <file>", "kubeconfig file, as for kubectl (KUBECONFIG; default: ~/.kube/config)")
    .option("--context <name>", "context in the kubeconfig")
    .addHelpText(
      "after",
      [
        "\nEach node's resident hand has looked for the plugins, interfaces, bridge, uplink and VLAN of the network.",
        "With --dry-run it then tries the network where it is ready: a real ADD, CHECK and DEL, which takes an address",
        "for a moment. One at a time on a node, and not while its pods wait for their networks.",
        "Exit status 0 only if the network is ready on every node that was asked, and passed with --dry-run.",
        "A doubt, such as an address of the host in the range, is a warning: STATE is ready, WHY names the doubt, and",
        "only --fail-on warning fails for it.",
        examples(
          "levee check network kubevirt-vms/prod-vlan57 --all",
          "levee check network prod-vlan57 --node worker-1 worker-2 -o wide",
          "levee check network kubevirt-vms/prod-vlan57 --all --dry-run --fail-on warning",
        ),
      ].join("\n"),
    );
  command.action(async (name: string) => {
    // Commander gives the options that `levee check` also has to that command.
    const options = command.optsWithGlobals<NetworkOptions>();
    if (options.wait === true)
      throw usageFailure("Cannot use --wait with a network: it is an option of levee check", command.name());
    const failOn = failOnOf(options.failOn);
    const context = contextOf(command, shell);
    const names = options.node ?? [];
    const isCluster = options.all === true || names.length > 0;
    const reports = isCluster
      ? await askReports(context, names, options)
      : [await withProgress(shell, "Asking the daemon", () => thisNode(context))];
    const ruled = networkVerdicts(name, reports);
    const isDryRun = options.dryRun === true;
    const verdicts = isDryRun ? await tryNetworks(context, ruled, { ...options, isCluster }) : ruled;
    print(shell.stdout, context.settings.output, {
      value: { isGood: verdicts.every((verdict) => isGood(verdict, failOn)), nodes: verdicts },
      text: () => verdictTable(verdicts, { isWide: false, isDryRun, failOn }),
      wide: () => verdictTable(verdicts, { isWide: true, isDryRun, failOn }),
    });
    if (isUnknownEverywhere(verdicts))
      throw new CommandFailure("network-unknown", `Cannot check ${name}: no node that answered knows such a network`);
    const bad = new Set(verdicts.filter((verdict) => !isGood(verdict, failOn)).map(({ node }) => node)).size;
    const what = `${isDryRun ? "did not pass" : "is not ready"}${failOn === "warning" ? " or is in doubt" : ""}`;
    if (bad > 0)
      throw new CommandFailure("check-failed", `The network ${what} on ${bad} of ${plural(reports.length, "node")}`);
  });
}
