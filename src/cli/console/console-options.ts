import type { ClusterCommandOptions } from "../cluster/cluster-options.ts";
import { portOf } from "../cluster/port-option.ts";
import { usageFailure } from "../failure.ts";

export interface ConsoleOptions extends ClusterCommandOptions {
  readonly port?: string;
  readonly open: boolean;
  readonly node?: true;
  readonly export?: string;
  readonly metricsPort: string;
  readonly alertmanager?: string;
  readonly prometheus?: string;
  readonly inCluster?: true;
  readonly listen?: string;
  readonly host?: readonly string[];
  readonly tokenHeader?: string;
  readonly healthPort?: string;
}

/** In a cluster the Service leads to a fixed port. */
const inClusterPort = "9812";

/** Where to listen: a free port of loopback, unless told otherwise. */
export function listenOf(options: Pick<ConsoleOptions, "port" | "listen" | "inCluster">): {
  readonly host: string;
  readonly port: number;
} {
  const given = options.port ?? (options.inCluster === true ? inClusterPort : undefined);
  const port = given === undefined || given === "0" ? 0 : portOf("--port", given, "8080");
  const host = options.listen ?? "127.0.0.1";
  if (options.inCluster !== true && host !== "127.0.0.1")
    throw usageFailure(
      `Cannot listen on ${host}: without --in-cluster the console has your own rights, and answers this machine only`,
      "kubectl port-forward or ssh -L, or levee console --in-cluster",
    );
  return { host, port };
}

/** Options that mean something only together, or not together; and a port that can be one. */
export function requireSense(options: ConsoleOptions): void {
  listenOf(options);
  const together = [
    ["--in-cluster", options.inCluster],
    ["--node", options.node],
    ["--export", options.export],
  ] as const;
  const given = together.filter(([, value]) => value !== undefined).map(([name]) => name);
  if (given.includes("--in-cluster") && given.length > 1)
    throw usageFailure(`Cannot use ${given.join(" and ")} together`, `levee console ${given[0] ?? ""}`);
  const only = [
    ["--listen", options.listen],
    ["--host", options.host],
    ["--token-header", options.tokenHeader],
    ["--health-port", options.healthPort],
  ] as const;
  const [stray] = only.filter(([, value]) => value !== undefined && options.inCluster !== true);
  if (stray !== undefined && stray[0] !== "--listen")
    throw usageFailure(`Cannot use ${stray[0]} without --in-cluster`, `levee console --in-cluster ${stray[0]} …`);
}
