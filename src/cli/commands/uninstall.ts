import { resolve } from "node:path";
import type { Command } from "commander";
import { readJournalOnly } from "../../state/journal/read-only.ts";
import { contextOf, examples } from "../command-line.ts";
import { askDaemon, type Context } from "../context.ts";
import { shimName } from "../move-in/install.ts";
import { print } from "../terminal/print.ts";
import { countPods, uninstall, type NodeState, type Uninstalled } from "../move-in/uninstall.ts";
import type { Shell } from "../shell.ts";

interface UninstallCommandOptions {
  readonly confDir: string;
  readonly binDir: string;
  readonly binaries?: true;
  readonly yes?: true;
}

export function addUninstall(program: Command, shell: Shell): void {
  const command = program
    .command("uninstall")
    .description("Take Levee's conf out of the runtime's folder, so that the next network serves new pods")
    .requiredOption("--conf-dir <folder>", "where the runtime looks for confs, such as /host/etc/cni/net.d")
    .requiredOption("--bin-dir <folder>", "where the runtime looks for plugins, such as /host/opt/cni/bin")
    .option("--binaries", `remove ${shimName} and passthru too, once no pod needs them`)
    .option("--yes", "go on even if the node is left without a conf, or pods without their DEL")
    .addHelpText(
      "after",
      [
        `\nPods that are running keep their networks. ${shimName} stays by default, because their DEL may still come to it,`,
        "and the journal stays in any case. Run it after the daemon is gone from the node.",
        examples(
          "levee uninstall --conf-dir /host/etc/cni/net.d --bin-dir /host/opt/cni/bin",
          "levee uninstall --conf-dir /etc/cni/net.d --bin-dir /opt/cni/bin --binaries",
        ),
      ].join("\n"),
    );
  command.action(async (options: UninstallCommandOptions) => {
    const context = contextOf(command, shell);
    const node = await nodeState(context);
    const chosen = {
      confDir: resolve(options.confDir),
      binDir: resolve(options.binDir),
      binaries: options.binaries === true,
      yes: options.yes === true,
    };
    const done = await uninstall(chosen, node);
    print(shell.stdout, context.settings.output, {
      value: { ...done, stateDir: context.settings.stateDir, attachedPods: node.attachedPods },
      text: () => uninstalledText(done, node, { ...chosen, stateDir: context.settings.stateDir }),
    });
  });
}

async function nodeState(context: Context): Promise<NodeState> {
  const { stateDir } = context.settings;
  const isDaemonHere = await askDaemon(context, { ask: "node" }).then(
    () => true,
    () => false,
  );
  const journal = await readJournalOnly(stateDir).catch(() => undefined);
  if (journal === undefined || !journal.exists) return { isDaemonHere, attachedPods: undefined };
  return { isDaemonHere, attachedPods: new Set(journal.records.map(({ containerId }) => containerId)).size };
}

interface Place {
  readonly confDir: string;
  readonly binDir: string;
  readonly stateDir: string;
  readonly binaries: boolean;
}

function uninstalledText(done: Uninstalled, node: NodeState, place: Place): string {
  return [
    ...(done.removed.length === 0 ? [nothingLine(place)] : done.removed.map(removedLine)),
    nextLine(done, place),
    ...done.others.map((name) => `${place.confDir}/${name} still calls ${shimName}: remove it by hand`),
    ...podLines(node),
    ...(place.binaries
      ? []
      : [`${shimName} stays in ${place.binDir}: the DEL of a pod that it attached may still come to it (--binaries)`]),
    node.attachedPods === undefined
      ? `No journal was found in ${place.stateDir}`
      : `The journal stays in ${place.stateDir}`,
  ]
    .map((line) => `${line}\n`)
    .join("");
}

function nothingLine({ confDir }: Place): string {
  return `There is no conf of Levee in ${confDir}. If this is the first time that you ask: is it the runtime's folder?`;
}

function removedLine(file: string): string {
  return `${file} is removed`;
}

function nextLine({ next }: Uninstalled, { confDir }: Place): string {
  if (next === undefined || !("types" in next))
    return `No conf is left in ${confDir}: the node can start no pods until there is one`;
  return `The runtime uses ${confDir}/${next.fileName} from now on: network ${next.network} (${next.types.join(", ")})`;
}

/** The next network's DEL knows nothing of a pod's other networks, so their addresses would stay taken. */
function podLines({ attachedPods = 0 }: NodeState): readonly string[] {
  if (attachedPods === 0) return [];
  return [`${countPods(attachedPods)} in the journal: drain the node, or their further networks are not given back`];
}
