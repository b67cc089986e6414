import type { Decision } from "../decision/decision.ts";
import type { Step, StepAction } from "../decision/step.ts";

/**
 * Steps that find what is already done and whose requests change nothing the second time: labels and quotas are set, pods
 * are removed by UID, a patch tests the old value, the same plan makes the same commit, a restart carries the time at which the Decision
 * began, an owner is set to a number. A step that is not listed pauses.
 */
const repeatable: ReadonlySet<StepAction> = new Set<StepAction>([
  "StopSource",
  "HoldArgoApp",
  "RemovePods",
  "SetMemoryLimit",
  "LockToGit",
  "ListStuck",
  "RestartWorkload",
  "ScaleOwner",
  "AskPerson",
  "Verify",
]);
/** As for an approval that has not begun: after longer, the cluster is no longer the one that the person saw. */
const awayMaxMs = 15 * 60_000;
/** More changes of the leader without a person's word mean that the work itself ends the guards. */
const takeoversMax = 5;

/** Why a Decision that another leader was running needs a person; undefined when the next leader may go on. */
export function takeoverProblem(decision: Decision, heardMs: number, nowMs: number): string | undefined {
  const step = underWay(decision);
  if (step !== undefined && !repeatable.has(step.action))
    return `its step ${step.id}, ${step.action}, is not safe to repeat`;
  if (heardMs === 0) return "it is not known since when nobody has led";
  const awayMs = nowMs - heardMs;
  if (awayMs > awayMaxMs) return `nobody has led for ${Math.floor(awayMs / 60_000)} minutes`;
  const isWornOut = (decision.status?.takeovers ?? 0) >= takeoversMax;
  return isWornOut ? `it was taken over ${takeoversMax} times since a person's last word` : undefined;
}

function underWay({ spec, status }: Decision): Step | undefined {
  const id = status?.steps?.find(({ phase }) => phase === "Running")?.id;
  return spec.steps.find((step) => step.id === id);
}
