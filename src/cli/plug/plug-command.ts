import type { Command } from "commander";
import { withNetwork, withoutNetwork } from "../../attachment/edit-selection.ts";
import { failedParts } from "../../attachment/change-words.ts";
import { parseSelection } from "../../attachment/selection.ts";
import { interfaceHolder, type HeldInterface } from "../../attachment/interface-holder.ts";
import type { Namespace } from "../../base/brand.ts";
import { oneLine } from "../../base/plain-text.ts";
import type { KubeOptions } from "../cluster/kube-access.ts";
import { editNetworks, untilNetworks, type PodNetworksSeen } from "./pod-networks.ts";
import { withCluster } from "../cluster/with-cluster.ts";
import { contextOf, examples } from "../command-line.ts";
import { CommandFailure } from "../failure.ts";
import {
  networkText,
  parseNetwork,
  parsePod,
  podText,
  requireSubdomain,
  type NetworkChoice,
  type PodKey,
} from "../node/names.ts";
import type { Shell } from "../shell.ts";
import { parseSpan } from "../storm/quantity.ts";
import { print } from "../terminal/print.ts";

interface PlugOptions extends KubeOptions {
  readonly namespace?: string;
  readonly timeout: string;
}

/** The commands `plug` and `unplug`. */
export function addPlug(program: Command, shell: Shell): void {
  addAttaching(program, shell);
  addDetaching(program, shell);
}

function addAttaching(program: Command, shell: Shell): void {
  const command = program.command("plug <pod> <network>").description("Attach a network to a running pod");
  addOptions(command).addHelpText(
    "after",
    [
      "\nNETWORK is [NAMESPACE/]NAME[@INTERFACE]. The command adds it to the pod's annotation, with your own rights, and waits",
      "until the pod's network-status has it. The daemon of the pod's node does the work; levee why tells how.",
      examples("levee plug web lan", "levee plug shop/web dmz/lan@net5 --timeout 1m"),
    ].join("\n"),
  );
  command.action(async (name: string, network: string, options: PlugOptions) => {
    await change(command, shell, { name, network, options }, (seen, { pod, namespace, choice }) => {
      refuseTaken(seen, { pod, namespace, choice });
      return withNetwork(seen.asked, namespace, choice);
    });
  });
}

function addDetaching(program: Command, shell: Shell): void {
  const command = program.command("unplug <pod> <network>").description("Detach a network from a running pod");
  addOptions(command).addHelpText(
    "after",
    [
      "\nNETWORK is [NAMESPACE/]NAME[@INTERFACE]. Without an interface all entries of that network are taken out of the pod's",
      "annotation. The command waits until the pod's network-status lacks them.",
      examples("levee unplug web lan", "levee unplug shop/web dmz/lan@net5"),
    ].join("\n"),
  );
  command.action(async (name: string, network: string, options: PlugOptions) => {
    await change(command, shell, { name, network, options }, ({ asked }, { namespace, choice }) => {
      const { text, removed } = withoutNetwork(asked, namespace, choice);
      if (removed > 0) return text;
      throw new CommandFailure("network-unknown", `The pod's annotation does not ask for ${networkText(choice)}`, {
        remedy: "name the interface only if the annotation does; kubectl describe pod shows it",
      });
    });
  });
}

/** Once it is written, the daemon refuses such a network until a person mends the annotation, and the pod's next sandbox too. */
function refuseTaken({ asked, status }: PodNetworksSeen, { pod, namespace, choice }: Aim): void {
  const taken = interfaceHolder(asked, namespace, status, choice);
  if (taken === undefined) return;
  const { network, ifname, isLater, entry } = taken;
  const has = isLater
    ? `at the pod's next start ${network} gets that interface name`
    : `${network} has that interface name in the pod`;
  const other = `name another interface, as in levee plug ${podText(pod)} ${choice.namespace}/${choice.name}@NAME`;
  const message = `Cannot plug ${choice.namespace}/${choice.name} as ${ifname}: ${oneLine(has)}`;
  throw new CommandFailure("interface-taken", message, {
    remedy: entry === undefined ? other : `${other}, or first levee unplug ${podText(pod)} ${entry}`,
  });
}

function addOptions(command: Command): Command {
  return command
    .option("-n, --namespace <name>", "the pod's namespace (default: default)")
    .option("--timeout <time>", "the longest wait for the result", "30s")
    .option("--kubeconfig <file>", "kubeconfig file, as for kubectl (KUBECONFIG; default: ~/.kube/config)")
    .option("--context <name>", "context in the kubeconfig");
}

interface Asked {
  readonly name: string;
  readonly network: string;
  readonly options: PlugOptions;
}

/** The pod and the network that were named. */
interface Aim {
  readonly pod: PodKey;
  readonly namespace: Namespace;
  readonly choice: NetworkChoice;
}

type Edit = (seen: PodNetworksSeen, aim: Aim) => string;

async function change(command: Command, shell: Shell, { name, network, options }: Asked, edit: Edit): Promise<void> {
  const { settings } = contextOf(command, shell);
  const pod = parsePod(name, options.namespace, requireSubdomain);
  const choice = parseNetwork(network, pod.namespace);
  const waitMs = parseSpan("--timeout", options.timeout);
  const namespace = pod.namespace as Namespace; // checked by parsePod
  const isPlug = command.name() === "plug";
  const isIts = (entry: HeldInterface): boolean =>
    entry.name === `${choice.namespace}/${choice.name}` && (choice.ifname ?? entry.ifname) === entry.ifname;
  const networks = await withCluster(shell, options, async (api) => {
    const before = await editNetworks(api, pod, (seen) => edit(seen, { pod, namespace, choice }));
    const had = before.status.filter(isIts).length;
    const isDone = (status: readonly HeldInterface[]): boolean =>
      isPlug ? status.filter(isIts).length > had : !status.some(isIts);
    const isItsFailure = failureTest(isPlug ? "attach" : "detach", before, { pod, namespace, choice });
    return await untilNetworks(shell, api, { pod, isDone, isItsFailure, waitMs });
  });
  const has = networks.map((entry) => `${oneLine(entry.name)} (${oneLine(entry.ifname)})`).join(", ");
  print(shell.stdout, settings.output, {
    value: { pod: podText(pod), networks: networks.map(({ name: of, ifname }) => ({ name: of, ifname })) },
    text: () => `${podText(pod)} has ${has}\n`,
  });
}

/** A network without an interface name gets one that no other entry of the annotation names. */
function failureTest(verb: "attach" | "detach", { asked }: PodNetworksSeen, aim: Aim): (text: string) => boolean {
  const { ifname, ...choice } = aim.choice;
  const network = `${choice.namespace}/${choice.name}`;
  const named = verb === "attach" ? parseSelection(asked, aim.namespace).map((element) => String(element.ifname)) : [];
  const isIts = (other: string): boolean => (ifname === undefined ? !named.includes(other) : other === ifname);
  return (text) =>
    failedParts(text)?.some((part) => part.verb === verb && part.network === network && isIts(part.ifname)) ?? true;
}
