import type { Command } from "commander";
import { examples } from "../command-line.ts";
import { usageFailure } from "../failure.ts";

/** Only the help entry: the daemon itself starts in src/main.ts, before anything of the command line is loaded. */
export function addDaemon(program: Command): void {
  program
    .command("daemon")
    // The global ones are not for the daemon: its configuration says where things are.
    .configureHelp({ showGlobalOptions: false })
    .description("Run the node daemon in the foreground")
    .option(
      "--config <file>",
      "daemon-config.json: the keys of Multus and our own, see docs/knobs.md (default: /etc/cni/net.d/multus.d/daemon-config.json)",
    )
    .option("--health-port <port>", "port of /healthz and /readyz on 127.0.0.1, for settings that name no healthPort")
    .option(
      "--metrics-port <port>",
      "port of /metrics and /nodez on every interface, for settings that name no metricsPort",
    )
    .addHelpText(
      "after",
      [
        "\nIt runs without the JIT: a quarter less memory for a fifth more CPU. BUN_JSC_useJIT=1 in the environment turns it on.",
        "SIGTERM stops it in order; attachments stay. Problems of the configuration are all reported at once.",
        examples("levee daemon --config /etc/levee/daemon-config.json"),
      ].join("\n"),
    )
    .action(() => {
      throw usageFailure(
        'Cannot start the daemon with options in front of "daemon"',
        'put "daemon" first: levee daemon --config FILE',
      );
    });
}
