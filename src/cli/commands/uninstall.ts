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
    .description("Remove Levee's conf from the runtime's folder, so that the next network serves new pods")
    .requiredOption("--conf-dir <folder>", "the runtime's conf folder, such as /host/etc/cni/net.d")
    .requiredOption("--bin-dir <folder>", "the runtime's plugin folder, such as /host/opt/cni/bin")
    .option("--binaries", `also remove ${shimName} and passthru, once no pod needs them`)
    .option("--yes", "continue even if the node keeps no conf, or pods get no DEL")
    .addHelpText(
      "after",
      [
        `\nRunning pods keep their networks. ${shimName} stays by default, because it may still get their DEL,`,
        "and the journal always stays. Run this command after the daemon is gone from the node.",
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
      : [
          `${shimName} stays in ${place.binDir}, because it may still get the DEL of a pod it attached (--binaries removes it)`,
        ]),
    node.attachedPods === undefined
      ? `No journal was found in ${place.stateDir}`
      : `The journal stays in ${place.stateDir}`,
  ]
    .map((line) => `${line}\n`)
    .join("");
}

function nothingLine({ confDir }: Place): string {
  return `There is no conf of Levee in ${confDir}. If this is the first uninstall, check that it is the runtime's folder`;
}

function removedLine(file: string): string {
  return `${file} is removed`;
}

function nextLine({ next }: Uninstalled, { confDir }: Place): string {
  if (next === undefined || !("types" in next))
    return `No conf is left in ${confDir}: the node cannot start pods until there is one`;
  return `The runtime uses ${confDir}/${next.fileName} from now on: network ${next.network} (${next.types.join(", ")})`;
}

/** The next network's DEL does not know a pod's other networks, so their addresses would stay taken. */
function podLines({ attachedPods = 0 }: NodeState): readonly string[] {
  if (attachedPods === 0) return [];
  return [
    `${countPods(attachedPods)} in the journal: drain the node, or the addresses of their additional networks stay taken`,
  ];
}
