import type { Cause } from "./cause.ts";
import type { Symptom } from "./symptoms.ts";

/** This many retrying pods load a node's CNI daemon; fewer do not explain why it was killed. */
const backlogMin = 10;

/** Why one thing follows from another. Every edge names one of these rules or one of `alert-rules.ts`. */
interface CauseRule {
  readonly name: string;
  /** Completes "because …". */
  readonly why: string;
  /** `from` is the cause or a symptom that is already linked. */
  readonly follows: (from: Cause | Symptom, to: Symptom, cause: Cause) => boolean;
}

export const causeRules: readonly CauseRule[] = [
  {
    name: "BacklogOverloadsCni",
    why: "kubelet retries every bound pod at the CNI daemon, and this node has many of them",
    follows: (from, to) =>
      !isSymptom(from) &&
      (from.cause === "OwnerlessPodAvalanche" || from.cause === "RunawayWorkload") &&
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
    name: "ReservedNameFailsSandboxes",
    why: "the runtime refuses the name of a sandbox while another one has it",
    follows: (from, to) =>
      !isSymptom(from) &&
      from.cause === "ReservedSandboxNames" &&
      to.kind === "SandboxesFail" &&
      from.nodes.has(to.node) &&
      to.lastMs >= from.sinceMs,
  },
  {
    name: "ReservedNameSticksPods",
    why: "the names of its pods' sandboxes stay reserved",
    follows: (from, to) =>
      !isSymptom(from) &&
      from.cause === "ReservedSandboxNames" &&
      to.kind === "WorkloadStuck" &&
      to.workload.pods.some(({ uid }) => from.held.has(uid)),
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

export function isSymptom(value: Cause | Symptom): value is Symptom {
  return "kind" in value;
}
