import type { Category } from "../check/cluster-line.ts";
import { CommandFailure, exitCode } from "../failure.ts";

/** For a look that found nobody who answers this user. */
export function clusterAway(categories: readonly Category[]): CommandFailure {
  const [line] = categories.flatMap(({ lines }) => lines).filter(({ state }) => state === "failed");
  const why = `Cannot look at the cluster: ${line?.detail ?? "it does not answer"}`;
  // LVE0103 is that of a server that answers, and refuses.
  if (line?.code === "LVE0103")
    return new CommandFailure("api-refused", why, {
      remedy: "levee check -o wide names what is refused; levee decisions list needs the right to Decisions only",
      exitCode: exitCode.unreachable,
    });
  return new CommandFailure("api-unreachable", why, {
    remedy: "kubectl get nodes must work here with the same kubeconfig and context",
    exitCode: exitCode.unreachable,
  });
}
