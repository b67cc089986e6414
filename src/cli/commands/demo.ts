import type { Command } from "commander";
import { contextOf, examples } from "../command-line.ts";
import { runDemo } from "../demo/run-demo.ts";
import { usageFailure } from "../failure.ts";
import type { Shell } from "../shell.ts";

export function addDemo(program: Command, shell: Shell): void {
  const command = program
    .command("demo")
    .description(
      "Run the daemon, a resident hand and a pod on two networks on this machine, without a cluster, until Ctrl-C",
    )
    .option("--once", "attach, print, clean up and exit")
    .option("--shim <file>", "the shim to run (LEVEE_SHIM; default: levee-shim beside this program)")
    .option(
      "--cni-path <folders>",
      "folders of the CNI plugins (LEVEE_CNI_PATH; default: those of /opt/cni/bin:/usr/lib/cni that exist)",
    )
    .addHelpText(
      "after",
      [
        "\nIt uses its own folders, /run/levee-demo and /var/lib/levee-demo, and the bridges levee-lan0 and levee-dmz0.",
        "It needs root, iproute2 and the plugins bridge and host-local. It leaves nothing behind, and removes what a killed demo left.",
        examples("levee demo", "levee demo --once"),
      ].join("\n"),
    );
  command.action(async (options: { readonly once?: true }) => {
    const context = contextOf(command, shell);
    const { output } = context.settings;
    if (output === "json" || output === "yaml")
      throw usageFailure(`Cannot print the demo as ${output}: its output is for people only`, "levee demo --once");
    const serve: Parameters<typeof runDemo>[1]["serve"] = async (site) =>
      (await import("../console/watch-node.ts")).watchNodeIfPossible(site);
    await runDemo(context, { isOnce: options.once === true, serve });
  });
}
