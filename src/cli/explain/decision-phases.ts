import type { DecisionPhase } from "../../guard/decision/decision.ts";

interface PhaseExplanation {
  readonly means: string;
  readonly why: string;
  readonly todo: string;
}

/** What each phase of a Decision means to the person who sees it. */
export const phaseFacts: Readonly<Record<DecisionPhase, PhaseExplanation>> = {
  Proposed: {
    means: "The guard has named a cause and frozen a plan against it. Nothing has been done.",
    why: "It lives as long as its cause; meanwhile the outage goes on.",
    todo: "levee decisions show NAME, then levee decisions approve NAME or reject. The Decision that stops the source is safe to approve first.",
  },
  Approved: {
    means: "A person has approved this very plan, and its first step has not begun.",
    why: "An approval that has not begun after 15 minutes is void: the cluster is no longer the one that was looked at.",
    todo: "Wait some seconds. If it stays: levee status shows whether a guard leads and may act; levee decisions show NAME says what it waits for.",
  },
  Running: {
    means: "Steps are being carried out, one after the other, each checked before the next begins.",
    why: "It stops by itself when a check does not hold, when its approval is withdrawn or when the leader changes.",
    todo: "levee decisions show NAME. To stop it before its next write: levee decisions pause NAME.",
  },
  Paused: {
    means:
      "It has stopped half way: a check did not hold, somebody said so, its approval was withdrawn, or the guard changed hands.",
    why: "What was done stays done; nothing more is done and nothing is replayed.",
    todo: "Read the message and the steps (levee decisions show NAME). Then levee decisions resume NAME, or reject, which ends it.",
  },
  Succeeded: {
    means: "Every step was done and every check held.",
    why: "It is final. What was left alone or listed is still for you.",
    todo: "levee report NAME writes the post-mortem, with what to do next.",
  },
  Failed: {
    means: "It ended without doing its work, for instance because its plan is not the one that was hashed.",
    why: "It is final; the same may be proposed again under the next number.",
    todo: "levee report NAME says how far it came. Look for the Decision that follows it: levee decisions list.",
  },
  Expired: {
    means: "Its cause was gone before it began, or its approval did not begin in its time.",
    why: "It is final, and nothing was done.",
    todo: "Nothing, if the cause is gone. Else there is a new Decision with today's targets: levee decisions list.",
  },
  Rejected: {
    means: "A person said no.",
    why: "It is final, and the same is not asked again about this avalanche. Only a recovery that had begun leaves the rest of its pods to a later Decision.",
    todo: "Do by hand what has to be done; each step's kubectl lines are in levee decisions show NAME.",
  },
  Superseded: {
    means: "Another Decision took its place before it began.",
    why: "It is final, and nothing was done.",
    todo: "levee decisions list shows the other.",
  },
};
