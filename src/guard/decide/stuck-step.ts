import type { StuckWorkload } from "../detect/stuck-workloads.ts";
import { stuckWorkloadsMax } from "../decision/limits.ts";
import { kubectl, rolloutRestartLine } from "./kubectl-lines.ts";
import type { StepDraft } from "./step-draft.ts";

const checkSeconds = 600;

/** Workloads that do not start by themselves once the network is back: a person restarts each with its line. */
export function stuckStep(workloads: readonly StuckWorkload[]): StepDraft {
  const shown = workloads.slice(0, stuckWorkloadsMax);
  return ({ id }) => ({
    id,
    action: "ListStuck",
    title:
      workloads.length === 0
        ? "List workloads that are still stuck"
        : `List workloads that are still stuck; now there are ${workloads.length}`,
    kubectl: [kubectl("get", "pods", "--all-namespaces", "--field-selector=status.phase=Pending", "-o", "wide")],
    preconditions: [],
    check: {
      what: "The list is written into the status; workloads that started by themselves are not in it",
      deadlineSeconds: checkSeconds,
    },
    listStuck: {
      workloads: shown.map(({ kind, namespace, name, pods }) => ({
        kind,
        namespace,
        name,
        stuckPods: pods.length,
        kubectl: rolloutRestartLine(kind, namespace, name),
      })),
      omitted: workloads.length - shown.length,
    },
  });
}
