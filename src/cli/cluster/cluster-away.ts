import type { Category } from "../check/cluster-line.ts";
import { CommandFailure, exitCode } from "../failure.ts";

/** For a look that found nobody who answers this user. */
export function clusterAway(categories: readonly Category[]): CommandFailure {
  const [line] = categories.flatMap(({ lines }) => lines).filter(({ state }) => state === "failed");
  return new CommandFailure("api-unreachable", `Cannot look at the cluster: ${line?.detail ?? "it does not answer"}`, {
    remedy: "kubectl get nodes must work here with the same kubeconfig and context",
    exitCode: exitCode.unreachable,
  });
}
