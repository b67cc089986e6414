import type { StepAction } from "../../guard/decision/step.ts";

export interface Explanation {
  readonly means: string;
  readonly todo: string;
}

/** What each step of a plan does to a cluster. */
export const stepFacts: Readonly<Record<StepAction, Explanation>> = {
  StopSource: {
    means:
      "A namespace is made to refuse new pods without an owner: by a label that an installed policy reads, or by a quota where that policy is missing or does not hold the maker. It is done when no more pods of the make come for half a minute.",
    todo: "If it pauses because pods still come, their maker is not held by it: levee decisions show NAME names the client, stop that one by hand.",
  },
  HoldArgoApp: {
    means:
      "Argo CD would take a changed limit back at its next sync, so the guard waits until a person has held the Application: automatic sync off, or a window that denies it. The guard changes nothing of Argo CD.",
    todo: "Run the line that levee decisions show NAME prints for this step. It waits for 30 minutes.",
  },
  RemovePods: {
    means:
      "Pods of the plan that never started a container are deleted, by UID, in batches per node. What was replaced, has started or is gone is left alone and reported.",
    todo: "Nothing. If it pauses at the breaker: levee decisions show NAME says which limit was reached, levee decisions reset-breaker NAME and then resume go on.",
  },
  SetMemoryLimit: {
    means:
      "The memory limit of the CNI daemon is raised by one patch, which is also its restart. It is done when every pod of it is new, ready and was not killed since.",
    todo: "If it pauses because the limit is not the old one any more, somebody else has changed it: look at the DaemonSet, then reject or resume.",
  },
  LockToGit: {
    means:
      "The same limit is written into git as one commit of one path, on a branch for a person to merge unless a path was allowed. While git is away the later steps go on; the Decision succeeds only with this.",
    todo: "Merge the branch levee/NAME. If the push was refused, the message has the server's words.",
  },
  ListStuck: {
    means:
      "What is still stuck after the recovery is listed with the kubectl line that starts it again. Nothing is restarted.",
    todo: "levee decisions show NAME prints the lines; run those you agree with.",
  },
  Verify: {
    means:
      "Pods of the avalanche are gone, workloads that followed from it are ready, Services have endpoints, Applications are known, raised limits stand: all at the same time.",
    todo: "If it pauses, the message names what does not hold. Mend it, then levee decisions resume NAME.",
  },
};

export const causeFacts: Readonly<Record<string, Explanation>> = {
  OwnerlessPodAvalanche: {
    means:
      "At least 20 pods without an owner, of one make and in one namespace, have a node and are Pending for over five minutes. Nobody deletes them and nobody counts them; the kubelet tries each of them without end, which is what the CNI daemon drowns in.",
    todo: "levee decisions list: one Decision stops the source, another recovers. The chain in levee decisions show NAME says which alerts follow from it.",
  },
};

/** Why a command about Decisions ended without doing anything. */
export const decisionFailures: Readonly<Record<string, Explanation>> = {
  "approval-required": {
    means:
      "The word was not said: nobody was at the terminal to confirm it, or what was typed is not the Decision's name.",
    todo: "Read the plan with levee decisions show NAME; then type the name, or give --plan-hash with the hash that you read.",
  },
  "plan-changed": {
    means: "The plan is not the one whose hash was given, or its text does not match its own hash.",
    todo: "levee decisions show NAME, and decide about what it shows now.",
  },
  "decision-ended": {
    means: "The Decision has ended, which is final.",
    todo: "levee decisions list shows what is open; levee report NAME tells what came of this one.",
  },
  "decision-proposed": {
    means: "A proposal cannot be resumed: it begins by an approval only.",
    todo: "levee decisions approve NAME",
  },
  "decision-unknown": { means: "There is no Decision of that name.", todo: "levee decisions list" },
  "decision-unreadable": {
    means: "This program does not know the plan: a guard of another release has written it.",
    todo: "Use the levee program of the guard's release.",
  },
  "guard-absent": {
    means: "The cluster has no Decisions: their definition is not installed.",
    todo: "kubectl apply -k deploy/crd",
  },
};
