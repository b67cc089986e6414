import type { DecisionPhase } from "../../guard/decision/decision.ts";

interface PhaseExplanation {
  readonly means: string;
  readonly why: string;
  readonly todo: string;
}

/** What each phase of a Decision means. */
export const phaseFacts: Readonly<Record<DecisionPhase, PhaseExplanation>> = {
  Proposed: {
    means:
      "The guard has found a cause and proposes a plan. Nothing has been done. Until somebody approves it, the plan follows the facts, and the message says what changed last.",
    why: "It stays open as long as its cause. Meanwhile the outage goes on. An approval of an earlier plan does not count.",
    todo: "levee decisions show NAME, then levee decisions approve NAME or reject. The Decision that stops the source is safe to approve first.",
  },
  Approved: {
    means: "A person has approved exactly this plan. Its first step has not begun.",
    why: "An approval is void if the plan does not begin within 15 minutes, because the cluster may have changed.",
    todo: "Wait a few seconds. If it stays Approved: levee status shows whether a guard leads and may act, and levee decisions show NAME shows what it waits for.",
  },
  Running: {
    means: "The guard carries out the steps one after the other, and checks each one before the next begins.",
    why: "It pauses if a check fails or its approval is withdrawn. If the leader changes, the next one goes on where that is safe.",
    todo: "levee decisions show NAME. To stop it before its next write: levee decisions pause NAME.",
  },
  Paused: {
    means:
      "It stopped half-way: a check failed, a person paused it, its approval was withdrawn, or the leader changed and the next one could not go on by itself.",
    why: "Finished steps stay done. Nothing more is done, and nothing is repeated.",
    todo: "Read the message and the steps (levee decisions show NAME). Then levee decisions resume NAME, or reject to end it.",
  },
  Succeeded: {
    means: "Every step was done and every check passed.",
    why: "It is final. What the plan left alone or only listed is still yours to do.",
    todo: "levee report NAME writes the post-mortem and lists what to do next.",
  },
  Failed: {
    means: "It ended without finishing, for instance because its plan does not match its hash.",
    why: "It is final. The guard may propose the same again under the next number.",
    todo: "levee report NAME shows how far it got. Look for the next Decision: levee decisions list.",
  },
  Expired: {
    means: "Its cause was gone before it began, or it did not begin in time after its approval.",
    why: "It is final, and nothing was done.",
    todo: "Nothing, if the cause is gone. Otherwise there is a new Decision with current targets: levee decisions list.",
  },
  Rejected: {
    means: "A person rejected it.",
    why: "It is final, and the guard does not propose the same again for this avalanche. If a recovery had begun, a later Decision may cover the rest of its pods.",
    todo: "Do what is needed by hand; levee decisions show NAME has each step's kubectl lines.",
  },
  Superseded: {
    means: "Another Decision about the same cause took its place before it began.",
    why: "It is final, and nothing was done.",
    todo: "levee decisions list shows the other one.",
  },
};
