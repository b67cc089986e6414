import type { Avalanche } from "./avalanche.ts";
import type { Symptom } from "./symptoms.ts";

/** This many retrying pods load a node's CNI daemon; fewer do not explain why it was killed. */
const backlogMin = 10;

/** Why one thing follows from another. Every edge names one of these rules or one of `alert-rules.ts`. */
interface CauseRule {
  readonly name: string;
  /** Completes "because …". */
  readonly why: string;
  /** `from` is the avalanche or a symptom that is already linked. */
  readonly follows: (from: Avalanche | Symptom, to: Symptom, avalanche: Avalanche) => boolean;
}

export const causeRules: readonly CauseRule[] = [
  {
    name: "BacklogOverloadsCni",
    why: "kubelet retries every bound pod at the CNI daemon, and this node has many of them",
    follows: (from, to) =>
      !isSymptom(from) &&
      to.kind === "CniDaemonKilled" &&
      (from.nodes.get(to.node) ?? 0) >= backlogMin &&
      to.daemon.oomKilledMs >= from.sinceMs,
  },
  {
    name: "CniDownFailsSandboxes",
    why: "no sandbox gets its network while the CNI daemon of the node is down",
    follows: (from, to, { sinceMs }) =>
      isSymptom(from) &&
      from.kind === "CniDaemonKilled" &&
      to.kind === "SandboxesFail" &&
      to.node === from.node &&
      to.lastMs >= sinceMs,
  },
  {
    name: "CniDownSticksPods",
    why: "its stuck pods are on a node whose CNI daemon is down",
    follows: (from, to, { sinceMs }) =>
      isSymptom(from) &&
      from.kind === "CniDaemonKilled" &&
      to.kind === "WorkloadStuck" &&
      to.workload.pods.some((pod) => pod.node === from.node && pod.boundMs >= sinceMs),
  },
  {
    name: "StuckArgoLosesGit",
    why: "a workload of Argo CD does not start, so nothing can be compared with git",
    follows: (from, to) =>
      isSymptom(from) &&
      from.kind === "WorkloadStuck" &&
      to.kind === "ApplicationsUnknown" &&
      to.namespaces.has(from.workload.namespace),
  },
  {
    name: "CniDownCutsArgo",
    why: "Argo CD could no longer compare with git after the CNI daemon went down",
    follows: (from, to, { sinceMs }) =>
      isSymptom(from) && from.kind === "CniDaemonKilled" && to.kind === "ApplicationsUnknown" && to.sinceMs >= sinceMs,
  },
];

export function isSymptom(value: Avalanche | Symptom): value is Symptom {
  return "kind" in value;
}
