import { decisionPhase } from "../../../guard/decide/standing.ts";
import { terminalPhases, type Decision } from "../../../guard/decision/decision.ts";
import { undoScaleLine } from "../../../guard/decide/causes/scale-step.ts";
import { resumeJobLines } from "../../../guard/decide/kubectl-lines.ts";
import { undoLine } from "../../../guard/decide/stop-step.ts";
import { isLess, memoryLine } from "../../../guard/decide/memory-change.ts";
import type { ScaleOwnerStep, SetMemoryLimitStep, Step } from "../../../guard/decision/step.ts";
import { md } from "./markdown.ts";

/** What is left for people to do, as Markdown items. */
export function nextSteps(decision: Decision): readonly string[] {
  const { spec } = decision;
  return [
    ...phaseAdvice(decision),
    ...spec.steps.filter((step) => wasDone(decision, step)).flatMap((step) => stepAdvice(step, decision)),
    ...spec.notes.map((note) => `Noted at the proposal: ${noteText(note)}`),
  ];
}

/** A note that ends with a line to type: escaped, the line would be another one in the file. */
function noteText(note: string): string {
  const [, words, line] = /^(.*?: )(kubectl [^`]*)$/u.exec(note) ?? [];
  return words === undefined || line === undefined || /[.;,] /u.test(line) ? md(note) : `${md(words)} \`${line}\``;
}

function wasDone({ status }: Decision, { id }: Step): boolean {
  return status?.steps?.find((step) => step.id === id)?.phase === "Done";
}

function phaseAdvice(decision: Decision): readonly string[] {
  const phase = decisionPhase(decision);
  if (phase === "Succeeded") return [];
  if (!terminalPhases.has(phase)) return [`It has not ended: it is ${phase}. This report tells what is known so far`];
  const open = decision.spec.steps
    .filter((step) => !wasDone(decision, step))
    .map(({ id, action }) => `${id} ${action}`);
  return open.length === 0 ? [] : [`Not done by the guard, decide about these by hand: ${open.join(", ")}`];
}

function stepAdvice(step: Step, decision: Decision): readonly string[] {
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
    case "ScaleOwner":
      return scaleAdvice(step, decision);
    case "SetMemoryLimit":
      return memoryAdvice(step.setMemoryLimit);
    default:
      return [];
  }
}

function scaleAdvice({ id, scaleOwner }: ScaleOwnerStep, { status }: Decision): readonly string[] {
  const { kind, namespace, name, way } = scaleOwner;
  const how = way === "Scale" ? "smaller than before" : "suspended";
  const line = undoScaleLine(scaleOwner);
  const first = `${kind} ${md(`${namespace}/${name}`)} is still ${how}. Repair what made it run away, then set it back: \`${line}\``;
  const leftAlone = status?.steps?.find((one) => one.id === id)?.leftAlone ?? [];
  const jobs = (way === "Suspend" ? (scaleOwner.jobs ?? []) : [])
    .map((job) => job.name)
    .filter((job) => !leftAlone.some((text) => text.startsWith(`Job ${job}: `)));
  if (jobs.length === 0) return [first];
  const lines = resumeJobLines(namespace, jobs).map((one) => `\`${one}\``);
  return [
    first,
    `${jobs.length} of its Jobs are suspended with it: ${md(jobs.join(", "))}. Delete those whose time has passed, and let the others go on: ${lines.join(" and ")}`,
  ];
}

function memoryAdvice(change: SetMemoryLimitStep["setMemoryLimit"]): readonly string[] {
  const { namespace, name, oldLimit, newLimit, oldRequest, newRequest } = change;
  const place = md(`${namespace}/${name}`);
  if (!isLess(newLimit, oldLimit))
    return [
      `${place} keeps ${newLimit} until somebody lowers it. Where its daemons or Prometheus tell what it uses, the guard proposes the way back after a week without pressure`,
    ];
  const line = memoryLine(change, oldLimit, oldRequest === newRequest ? undefined : oldRequest);
  return [`If ${newLimit} is not enough for ${place}, go up again: \`${line}\``];
}
