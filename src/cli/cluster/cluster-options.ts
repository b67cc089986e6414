import type { Command } from "commander";
import { parseSpan } from "../storm/quantity.ts";
import type { KubeOptions } from "./kube-access.ts";
import { requireLabel } from "../node/names.ts";

/** Options of every command on the cluster. */
export interface ClusterCommandOptions extends KubeOptions {
  readonly namespace: string;
}

/** The default namespace of the guard and its Decisions. */
export const guardNamespace = "levee-system";

export function addClusterOptions(command: Command): Command {
  return command
    .option("-n, --namespace <name>", "namespace of the guard and its Decisions", guardNamespace)
    .option("--kubeconfig <file>", "kubeconfig file, as for kubectl (KUBECONFIG; default: ~/.kube/config)")
    .option("--context <name>", "context in the kubeconfig");
}

/** Adds `--wait` and `--timeout`, as kubectl names them. */
export function addWaitOptions(command: Command, what: string, timeout: string): Command {
  return command.option("--wait", what).option("--timeout <time>", "with --wait: the longest wait", timeout);
}

export interface WaitOptions {
  readonly wait?: boolean;
  readonly timeout?: string;
}

/** How long to wait; 0 without --wait. */
export function waitMsOf({ wait, timeout }: WaitOptions): number {
  const ms = timeout === undefined ? 0 : parseSpan("--timeout", timeout);
  return wait === true ? ms : 0;
}

export function guardNamespaceOf({ namespace }: ClusterCommandOptions): string {
  return requireLabel("a namespace", namespace);
}

/** The last lines of the help of every command on the cluster. */
export const clusterExitText =
  "Exit status: 0 well or only warnings, 1 failed, 2 wrong command line, 3 the cluster cannot be reached or refuses,\n4 an approval is missing or no longer fits, 130 interrupted.";
