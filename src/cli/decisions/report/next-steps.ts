import { decisionPhase } from "../../../guard/decide/standing.ts";
import { terminalPhases, type Decision } from "../../../guard/decision/decision.ts";
import { undoScaleLine } from "../../../guard/decide/causes/scale-step.ts";
import { undoLine } from "../../../guard/decide/stop-step.ts";
import type { Step } from "../../../guard/decision/step.ts";
import { md } from "./markdown.ts";

/** What is left for people to do, as Markdown items. */
export function nextSteps(decision: Decision): readonly string[] {
  const { spec } = decision;
  return [
    ...phaseAdvice(decision),
    ...spec.steps.flatMap((step) => stepAdvice(step, wasDone(decision, step))),
    ...spec.notes.map((note) => `Noted at the proposal: ${md(note)}`),
  ];
}

function wasDone({ status }: Decision, { id }: Step): boolean {
  return status?.steps?.find((step) => step.id === id)?.phase === "Done";
}

function phaseAdvice(decision: Decision): readonly string[] {
  const phase = decisionPhase(decision);
  if (phase === "Succeeded") return [];
  if (!terminalPhases.has(phase)) return [`It has not ended: it is ${phase}. This report is about a running Decision`];
  const open = decision.spec.steps
    .filter((step) => !wasDone(decision, step))
    .map(({ id, action }) => `${id} ${action}`);
  return open.length === 0 ? [] : [`Not done by the guard, decide about these by hand: ${open.join(", ")}`];
}

function stepAdvice(step: Step, isDone: boolean): readonly string[] {
  if (!isDone) return [];
  switch (step.action) {
    case "StopSource":
      return [
        `${md(step.stopSource.namespace)} still refuses new pods of this kind. Repair what made them, then remove the ${step.stopSource.way.toLowerCase()}: \`${undoLine(step.stopSource.way, step.stopSource.namespace)}\``,
      ];
    case "HoldArgoApp":
      return [`Remove the hold of the Application ${md(step.holdArgoApp.application)} once git has the new value`];
    case "LockToGit":
      return [`Review and merge the branch ${md(step.lockToGit.branch)} of ${md(step.lockToGit.repository)}`];
    case "ListStuck":
      return step.listStuck.workloads.map(
        ({ kind, namespace, name }) =>
          `Check whether ${kind} ${md(`${namespace}/${name}`)} has recovered, else restart it`,
      );
    case "ScaleOwner": {
      const { kind, namespace, name } = step.scaleOwner;
      return [
        `${kind} ${md(`${namespace}/${name}`)} is still smaller than before. Repair what made it run away, then set it back: \`${undoScaleLine(step.scaleOwner)}\``,
      ];
    }
    default:
      return [];
  }
}
