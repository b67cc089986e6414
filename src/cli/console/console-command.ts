import type { Command } from "commander";
import { addClusterOptions, clusterExitText } from "../cluster/cluster-options.ts";
import { metricsPortDefault } from "../cluster/port-option.ts";
import { contextOf, examples } from "../command-line.ts";
import type { Shell } from "../shell.ts";
import { requireSense, type ConsoleOptions } from "./console-options.ts";

export function addConsole(program: Command, shell: Shell): void {
  const command = addClusterOptions(
    program
      .command("console")
      .description("Serve a page on this machine that shows the cluster: storm, Decisions, reboots; Ctrl-C ends it"),
  )
    .option("--port <port>", "port to listen on (default: a free one; with --in-cluster: 9812)")
    .option("--no-open", "do not open a browser")
    .option("--node", "show this machine's daemon, even where there is a kubeconfig")
    .option("--export <file>", "write what the page shows into one file without scripts, and exit")
    .option("--metrics-port <port>", "the daemons' metricsPort", metricsPortDefault)
    .option(
      "--alertmanager <service>",
      "[https:]NAMESPACE/SERVICE:PORT (default: alertmanager-operated:9093 in any namespace)",
    )
    .option("--prometheus <service>", "[https:]NAMESPACE/SERVICE:PORT, for more than the last hour")
    .option("--in-cluster", "serve everybody who signs in with a token of his own; see docs/console.md")
    .option("--listen <address>", "with --in-cluster: the address to listen on (default: 127.0.0.1)")
    .option("--host <name...>", "with --in-cluster: names under which browsers reach it, beside loopback")
    .option(
      "--health-port <port>",
      "with --in-cluster: serve /healthz, /readyz and /metrics of the console itself there",
    )
    .option("--token-header <name>", "with --in-cluster: take the token from this header of a proxy on loopback")
    .addHelpText(
      "after",
      [
        "\nThe page answers this machine only, under an address with a random token. It reads with your kubeconfig and your rights,",
        "and writes nothing but the verdicts you give there. Nothing is deployed. Without a cluster it shows the node's daemon.",
        examples(
          "levee console",
          "levee console --context prod --port 8080 --no-open",
          "levee console --export decisions-waiting.html",
          "levee console --node",
        ),
        clusterExitText,
      ].join("\n"),
    );
  command.action(async (options: ConsoleOptions) => {
    requireSense(options);
    // Loaded late, because only this command needs a server.
    const { runConsole } = await import("./run-console.ts");
    await runConsole(contextOf(command, shell), options);
  });
}
