import type { DecisionCause } from "../../guard/decision/decision.ts";
import type { StepAction } from "../../guard/decision/step.ts";

export interface Explanation {
  readonly means: string;
  readonly todo: string;
}

/** What each step of a plan does. */
export const stepFacts: Readonly<Record<StepAction, Explanation>> = {
  StopSource: {
    means:
      "The namespace refuses new pods without an owner: by a label that an installed policy reads, or by a quota if that policy is missing or does not stop their maker. The step is done when no more such pods appear for half a minute.",
    todo: "If it pauses because pods still appear, it does not stop their maker: levee decisions show NAME names the client; stop that client by hand.",
  },
  HoldArgoApp: {
    means:
      "Argo CD would revert a changed limit at its next sync, so the guard waits until a person holds the Application: automatic sync off, or a sync window that denies it. The guard changes nothing in Argo CD.",
    todo: "Run the line that levee decisions show NAME prints for this step. The step waits 30 minutes.",
  },
  RemovePods: {
    means:
      "The guard deletes pods of the plan that never started a container, by UID, in batches per node. It leaves pods alone that were replaced, have started or are gone, and reports them.",
    todo: "Nothing. If it pauses at the breaker: levee decisions show NAME names the limit; levee decisions reset-breaker NAME and then resume continue it.",
  },
  SetMemoryLimit: {
    means:
      "One patch changes the memory limit of the CNI daemon, and its request where the plan says so, which also restarts it. A recovery raises it: the value comes from the pods that wait on the fullest node. A later Decision lowers it again, never below what it was before: the value comes from the highest use in a week without pressure. The notes of the Decision show the sum. The step is done when every pod of it is new, ready and not killed since.",
    todo: "If it pauses because the limit is no longer the old one, another client changed it: look at the DaemonSet, then reject or resume. The last line of a step that lowers the memory sets it back.",
  },
  LockToGit: {
    means:
      "The guard writes the same limit into git as one commit to one path, on a branch that a person merges unless direct pushes are allowed. While git is away, later steps go on; the Decision succeeds only after this step.",
    todo: "Merge the branch levee/NAME. If the push was refused, the message has the server's reason.",
  },
  ListStuck: {
    means:
      "The guard lists workloads that are still stuck after the recovery, with the kubectl line that restarts each. Later steps restart those that the plan names; the others are a person's.",
    todo: "levee decisions show NAME prints the lines; run the ones you agree with that have no step of their own.",
  },
  RestartWorkload: {
    means:
      "A workload whose pods still do not start is restarted as kubectl rollout restart does it, one after the other: the network first, then storage, DNS, the way in, the rest. One that started by itself, was replaced, is paused or has an attached volume is left alone, and so are Longhorn's instance managers.",
    todo: "If it pauses because its pods do not become ready, look at them, then levee decisions resume NAME. The last line of the step takes the restart back.",
  },
  ScaleOwner: {
    means:
      "The guard makes the owner of the pods smaller, or suspends it: the replicas of a Deployment or ReplicaSet, the parallelism of a Job, suspend of a Job or CronJob. It never makes anything larger. The owner's controller then removes pods, those that do not run first, so what has started stays.",
    todo: "If it pauses because the size is no longer the old one, another client changed it: look at the workload, then reject or resume. The step's undo line sets it back.",
  },
  AskPerson: {
    means:
      "Only a person may do this: the step lists each thing with its line and looks until the cluster shows that it is done. The guard changes nothing.",
    todo: "levee decisions show NAME prints what to do. If it pauses at its deadline, finish the rest, then levee decisions resume NAME.",
  },
  Verify: {
    means:
      "All at the same time: the avalanche's pods are gone, affected workloads are ready, also those that stopped starting after the proposal, Services have endpoints, Argo CD knows its Applications, and changed limits are in place. After less memory: for ten minutes no pod of the daemon is killed or comes close to its limit.",
    todo: "If it pauses, the message names what failed. Repair it, then levee decisions resume NAME. If less memory was not enough, the message has the line that goes up again.",
  },
};

export const causeFacts: Readonly<Record<DecisionCause, Explanation>> = {
  OwnerlessPodAvalanche: {
    means:
      "At least 20 pods without an owner, of one shape and in one namespace, have a node and are Pending for over five minutes. No controller deletes or counts them. The kubelet retries each one endlessly, and these calls overload the CNI daemon.",
    todo: "levee decisions list: one Decision stops the source, another one recovers. The chain in levee decisions show NAME shows which alerts follow from it.",
  },
  RunawayWorkload: {
    means:
      "At least 20 pods of one Job, CronJob, Deployment or other owner have a node and are Pending for over five minutes, they are at least half of its pods, and kubelet asks for their network in vain. Deleting them helps nothing, because the owner makes them again.",
    todo: "levee decisions show NAME: the plan scales the owner to the pods that have started, or suspends it. Where an autoscaler, an operator or Argo CD would put it back, the plan says so and asks a person or waits for a hold.",
  },
  ReservedSandboxNames: {
    means:
      "At least three pods of one node have been refused for over ten minutes because the runtime keeps the name of their sandbox for an older one. That one cannot be removed while the CNI plugin's DEL fails, so the pods never start. One failed DEL is not enough.",
    todo: "levee decisions show NAME has the crictl line for each pod, for root on its node. If crictl does not help, restart containerd there, and as the last way reboot the node.",
  },
  RebootBacklog: {
    means:
      "A node has needed a reboot for over a day, and the reboot gate has held it for a reason that has stood for an hour. A closed reboot window or another node's turn does not count.",
    todo: "levee decisions show NAME lists what blocks, since when, and how to clear each; levee gate why NODE says it for one node. This Decision itself blocks no reboot.",
  },
  MemoryNoLongerNeeded: {
    means:
      "The guard raised the memory limit of a CNI daemon in a recovery, and nobody has changed it since. For a week none of its pods was killed for memory or came close to the limit, no backlog of pods was seen, and every pod told what it uses. Nothing is broken.",
    todo: "levee decisions show NAME has the sum. Approve it when there is time to watch, or reject it: then the guard asks again only after another raise. It holds up no reboot and rings no alert while it waits.",
  },
};

/** Why a command about a Decision changed nothing. */
export const decisionFailures: Readonly<Record<string, Explanation>> = {
  "approval-required": {
    means: "The command was not confirmed: there is no terminal, or the typed text is not the Decision's name.",
    todo: "Read the plan with levee decisions show NAME; then type the name, or pass --plan-hash with the hash you read.",
  },
  "plan-changed": {
    means: "The plan does not have the given hash, or its text does not match its own hash.",
    todo: "levee decisions show NAME, and decide about the current plan.",
  },
  "decision-ended": {
    means: "The Decision has ended, which is final.",
    todo: "levee decisions list shows the open ones; levee report NAME shows the outcome of this one.",
  },
  "decision-proposed": {
    means: "A proposal cannot be resumed: only an approval begins it.",
    todo: "levee decisions approve NAME",
  },
  "decision-unknown": { means: "There is no Decision with that name.", todo: "levee decisions list" },
  "decision-unreadable": {
    means: "This program cannot read the plan: a guard of another release wrote it.",
    todo: "Use the levee program of the guard's release.",
  },
  "guard-absent": {
    means: "The cluster has no Decisions: their definition is not installed.",
    todo: "kubectl apply -f crds.yaml of the release",
  },
};
