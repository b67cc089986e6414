import type { Command } from "commander";
import { attachPod, splitNetworks, type Attached } from "../node/attach-pod.ts";
import { contextOf, examples } from "../command-line.ts";
import { usageFailure } from "../failure.ts";
import { interfaceTable } from "../node/interface-table.ts";
import { parseNetwork, parseNetworks, parsePod, podText } from "../node/names.ts";
import { print } from "../terminal/print.ts";
import { requireRoot } from "../node/require-root.ts";
import { addShimOptions, readConf, requirePluginFolders } from "../node/shim-options.ts";
import type { Shell } from "../shell.ts";

interface AttachOptions {
  readonly networks?: string;
  readonly namespace?: string;
  readonly default?: string;
  readonly conf?: string;
}

export function addAttach(program: Command, shell: Shell): void {
  const command = program
    .command("attach <name>")
    .description("Make a network namespace and attach it to networks, as a container runtime would")
    .option(
      "--networks <list>",
      "required: comma-separated networks as [NAMESPACE/]NAME[@INTERFACE]; the first becomes eth0, the others net1, net2, …",
    )
    .option("-n, --namespace <name>", "the pod's namespace (default: default)")
    .option("--default <network>", "the network that becomes eth0 instead of the first one in --networks");
  addShimOptions(command).addHelpText(
    "after",
    [
      "\nThe first network is the pod's default network (annotation v1.multus-cni.io/default-network, interface eth0);",
      "the others are additional networks (annotation k8s.v1.cni.cncf.io/networks).",
      "The network namespace is levee-NAME, or levee-NAMESPACE.NAME for a pod outside the namespace default.",
      "If the command fails, it removes everything it made.",
      examples(
        "levee attach web --networks lan,dmz",
        "levee attach web --networks dmz,backup@store0 --default lan",
        "ip netns exec levee-web ip addr",
      ),
    ].join("\n"),
  );
  command.action(async (name: string, options: AttachOptions) => {
    const context = contextOf(command, shell);
    const pod = parsePod(name, options.namespace);
    const chosen = options.default === undefined ? undefined : parseNetwork(options.default, pod.namespace);
    const networks = splitNetworks(parseNetworks(requireList(options), pod.namespace), chosen);
    requirePluginFolders(context.settings);
    requireRoot(shell);
    const attached = await attachPod(context, {
      pod,
      ...networks,
      conf: await readConf(options.conf, context.settings),
    });
    print(shell.stdout, context.settings.output, {
      value: attached,
      text: () => attachedText(attached),
      wide: () => attachedText(attached),
    });
  });
}

/** Checked here and not by commander, so that a mistyped option such as --network is reported first. */
function requireList({ networks }: AttachOptions): string {
  if (networks !== undefined) return networks;
  throw usageFailure("Required option '--networks <list>' not specified", "levee attach --help");
}

function attachedText(attached: Attached): string {
  return `${podText(attached)} is attached, network namespace ${attached.netns}\n\n${interfaceTable(attached)}`;
}
