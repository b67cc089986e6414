import type { Command } from "commander";
import { parseSpan } from "../storm/quantity.ts";
import type { KubeOptions } from "./kube-access.ts";
import { requireLabel } from "../node/names.ts";

/** What every command that looks at the guard's side of the cluster takes. */
export interface ClusterCommandOptions extends KubeOptions {
  readonly namespace: string;
}

/** Where the guard and its Decisions live, unless told. */
export const guardNamespace = "levee-system";

export function addClusterOptions(command: Command): Command {
  return command
    .option("-n, --namespace <name>", "where the guard and its Decisions live", guardNamespace)
    .option("--kubeconfig <file>", "as of kubectl (KUBECONFIG; default: ~/.kube/config)")
    .option("--context <name>", "context of the kubeconfig");
}

/** Adds `--wait` and `--timeout`, as kubectl names them. */
export function addWaitOptions(command: Command, what: string, timeout: string): Command {
  return command.option("--wait", what).option("--timeout <time>", "with --wait: no longer than this", timeout);
}

export interface WaitOptions {
  readonly wait?: boolean;
  readonly timeout?: string;
}

/** How long to wait; 0 for not at all. */
export function waitMsOf({ wait, timeout }: WaitOptions): number {
  const ms = timeout === undefined ? 0 : parseSpan("--timeout", timeout);
  return wait === true ? ms : 0;
}

export function guardNamespaceOf({ namespace }: ClusterCommandOptions): string {
  return requireLabel("a namespace", namespace);
}

/** The last lines of every help text here. */
export const clusterExitText =
  "Exit status: 0 well or only warnings, 1 failed, 2 wrong command line, 3 the cluster cannot be reached or refuses,\n4 a person's word is missing or no longer fits, 130 interrupted.";
