import type { Command } from "commander";
import { contextOf, examples } from "../command-line.ts";
import type { Context } from "../context.ts";
import { attachedPods, detachEach, type DetachedPod } from "../node/detach-pod.ts";
import { CommandFailure, usageFailure } from "../failure.ts";
import { parsePod, podText, type PodKey } from "../node/names.ts";
import { oneLine } from "../../base/plain-text.ts";
import { print } from "../terminal/print.ts";
import { requireRoot } from "../node/require-root.ts";
import { addShimOptions, readConf, requirePluginFolders } from "../node/shim-options.ts";
import type { Shell } from "../shell.ts";

interface DetachOptions {
  readonly namespace?: string;
  readonly all?: true;
  readonly conf?: string;
}

export function addDetach(program: Command, shell: Shell): void {
  const command = program
    .command("detach [name]")
    .description("Detach a pod that levee attach attached, and remove its network namespace")
    .option("-n, --namespace <name>", "the pod's namespace (default: default)")
    .option("--all", "detach every pod that levee attach made in this --directory");
  addShimOptions(command).addHelpText(
    "after",
    [
      "\nA pod that is not attached is not an error. If a plugin cannot undo its part, levee leaks lists what is left.\nIf the command fails, the namespace and the pod file stay, so you can repeat it.",
      examples("levee detach web", "levee detach shop/web", "levee detach --all"),
    ].join("\n"),
  );
  command.action(async (name: string | undefined, options: DetachOptions) => {
    const context = contextOf(command, shell);
    requireOneChoice(name, options);
    requirePluginFolders(context.settings);
    requireRoot(shell);
    const pods = await chosenPods(context, name, options);
    const conf = await readConf(options.conf, context.settings);
    const { done, failed } = await detachEach(context, pods, conf);
    print(shell.stdout, context.settings.output, {
      value: { detached: done },
      text: () => detachedText(done, failed.length),
    });
    if (failed.length > 0) throw joinFailures(failed);
  });
}

function requireOneChoice(name: string | undefined, options: DetachOptions): void {
  if ((name === undefined) === (options.all === undefined)) {
    throw usageFailure(
      "Cannot tell what to detach: give either a name or --all",
      "levee detach NAME, or levee detach --all",
    );
  }
}

async function chosenPods(
  context: Context,
  name: string | undefined,
  options: DetachOptions,
): Promise<readonly PodKey[]> {
  return name === undefined ? await attachedPods(context) : [parsePod(name, options.namespace)];
}

function detachedText(done: readonly DetachedPod[], failedCount: number): string {
  if (done.length === 0 && failedCount === 0) return "Nothing is attached\n";
  return done.map((pod) => `${podText(pod)} ${endingOf(pod)}\n`).join("");
}

function endingOf(pod: DetachedPod): string {
  if (!pod.wasAttached) return "was not attached, nothing to do";
  if (pod.isLeftToDaemon) return "is detached; the daemon is away and finishes the undo when it is back";
  if (pod.leftBehind.length === 0) return "is detached";
  const left = pod.leftBehind.map(({ network, ifname }) => `${oneLine(network)} (${oneLine(ifname)})`).join(", ");
  return `is detached; the undo on ${left} failed, see levee leaks`;
}

function joinFailures(failed: readonly CommandFailure[]): CommandFailure {
  const [first] = failed;
  if (first !== undefined && failed.length === 1) return first;
  return new CommandFailure(
    first?.code ?? "internal",
    `${failed.length} pods were not detached: ${failed.map(({ message }) => message).join("; ")}`,
    { remedy: first?.remedy ?? "" },
  );
}
