import type { Command } from "commander";
import { examples } from "../command-line.ts";
import { usageFailure } from "../failure.ts";

/** Only the help entry: src/main.ts starts the daemon before it loads any of the command line. */
export function addDaemon(program: Command): void {
  program
    .command("daemon")
    // The daemon takes its folders from its configuration, not from the global options.
    .configureHelp({ showGlobalOptions: false })
    .description("Run the node daemon in the foreground")
    .option(
      "--config <file>",
      "daemon-config.json with the keys of Multus and of Levee, see docs/knobs.md (default: /etc/cni/net.d/multus.d/daemon-config.json)",
    )
    .option("--health-port <port>", "port of /healthz and /readyz on 127.0.0.1, if the configuration has no healthPort")
    .option(
      "--metrics-port <port>",
      "port of /metrics and /nodez on every interface, if the configuration has no metricsPort",
    )
    .addHelpText(
      "after",
      [
        "\nIt runs without the JIT: a quarter less memory for a fifth more CPU. BUN_JSC_useJIT=1 in the environment turns it on.",
        "SIGTERM stops it in order; attachments stay. It reports all problems of the configuration at once.",
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
