import type { Category } from "../check/cluster-line.ts";
import { CommandFailure, exitCode } from "../failure.ts";

/** The failure for a cluster that does not answer, or refuses this user. */
export function clusterAway(categories: readonly Category[]): CommandFailure {
  const [line] = categories.flatMap(({ lines }) => lines).filter(({ state }) => state === "failed");
  const why = `Cannot look at the cluster: ${line?.detail ?? "it does not answer"}`;
  // LVE0103 fails if the server answers but refuses.
  if (line?.code === "LVE0103")
    return new CommandFailure("api-refused", why, {
      remedy: "levee check -o wide names what is refused; levee decisions list needs only the right to Decisions",
      exitCode: exitCode.unreachable,
    });
  return new CommandFailure("api-unreachable", why, {
    remedy: "kubectl get nodes must work here with the same kubeconfig and context",
    exitCode: exitCode.unreachable,
  });
}
