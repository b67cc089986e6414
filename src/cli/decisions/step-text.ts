import { oneLine } from "../../base/plain-text.ts";
import type { StepStatus } from "../../guard/decision/decision.ts";
import type { ScaleOwner } from "../../guard/decision/scale-owner.ts";
import type { AskPersonStep, PodTarget, SetMemoryLimitStep, Step, StepAction } from "../../guard/decision/step.ts";
import { plural } from "../terminal/plural.ts";
import type { Paint } from "../terminal/paint.ts";

/** More names than this are only counted. */
const targetsShown = 5;

/** One step of a plan: what it does, when it may begin, how it is checked, and its kubectl lines. */
export function stepText(step: Step, status: StepStatus | undefined, paint: Paint): string {
  const lines = [
    ...stepDetails(step).map((detail) => `does: ${detail}`),
    ...step.preconditions.map((rule) => `only if: ${rule}`),
    `done when: ${step.check.what} (within ${step.check.deadlineSeconds} s)`,
    ...statusLines(status).map((line) => `now: ${line}`),
  ];
  const head = `${step.id}. ${paint("bold", step.action)}  ${oneLine(step.title)}`;
  // Lines that the step found come after those of the proposal.
  const typed = [...step.kubectl, ...(status?.lines ?? [])];
  const commands = [...new Set(typed)].map((line) => `     ${paint("dim", `$ ${oneLine(line)}`)}\n`);
  return `  ${head}\n${lines.map((line) => `     ${oneLine(line)}\n`).join("")}${commands.join("")}`;
}

type Details = { readonly [A in StepAction]: (step: Extract<Step, { readonly action: A }>) => readonly string[] };

/** The important parameters in words; `-o yaml` prints all of them. */
const details: Details = {
  StopSource: ({ stopSource }) => [
    stopSource.way === "Label"
      ? `sets ${stopSource.key}=${stopSource.value} on the namespace ${stopSource.namespace}`
      : `sets the quota ${stopSource.quota} of ${stopSource.pods} pods in ${stopSource.namespace}`,
  ],
  HoldArgoApp: ({ holdArgoApp: { namespace, application, waitSeconds } }) => [
    `waits up to ${waitSeconds} s until Argo CD cannot revert ${namespace}/${application}; a person has to hold it`,
  ],
  RemovePods: ({ targets, removePods }) => removalDetails(targets, removePods),
  SetMemoryLimit: ({ setMemoryLimit }) => memoryDetails(setMemoryLimit),
  LockToGit: ({ lockToGit: { repository, path, branch, edits } }) => [
    `commits ${path} of ${repository} to the branch ${branch}`,
    ...edits.map(({ pointer, from, to }) => `${pointer}: ${from} becomes ${to}`),
  ],
  ListStuck: ({ listStuck }) => [
    `${plural(listStuck.workloads.length + listStuck.omitted, "workload")} at the proposal`,
  ],
  RestartWorkload: ({ restartWorkload: { kind, namespace, name, place } }) => [
    `sets the annotation of kubectl rollout restart on ${kind} ${namespace}/${name}; ${place}`,
  ],
  ScaleOwner: ({ scaleOwner }) => scaleDetails(scaleOwner),
  AskPerson: ({ askPerson }) => askedDetails(askPerson),
  Verify: ({ verify }) => [
    `looks at ${plural(verify.checks.length, "thing")} for up to ${verify.withinSeconds} s, and at what stops starting until then`,
  ],
};

export function stepDetails(step: Step): readonly string[] {
  // By the table's type each gets the steps of its own action.
  return (details[step.action] as (step: Step) => readonly string[])(step);
}

function memoryDetails(change: SetMemoryLimitStep["setMemoryLimit"]): readonly string[] {
  const { namespace, name, container, oldLimit, newLimit, oldRequest, newRequest } = change;
  const request = oldRequest === newRequest ? "" : `, request ${oldRequest || "none"} becomes ${newRequest}`;
  return [`${namespace}/${name}, container ${container}: limit ${oldLimit || "none"} becomes ${newLimit}${request}`];
}

function scaleDetails(change: ScaleOwner): readonly string[] {
  const { kind, namespace, name, why } = change;
  const label = `${kind} ${namespace}/${name}`;
  if (change.way === "Scale") {
    const field = kind === "Job" ? "parallelism" : "replicas";
    return [`${label}: ${field} ${change.from} becomes ${change.to}, because ${why}`];
  }
  const { jobs = [] } = change;
  const named = jobs.slice(0, targetsShown).map((job) => job.name);
  const more = jobs.length > named.length ? `, and ${jobs.length - named.length} more` : "";
  return [
    `${label}: suspend becomes true, because ${why}`,
    ...(jobs.length === 0 ? [] : [`suspends ${plural(jobs.length, "Job")} of it by UID: ${named.join(", ")}${more}`]),
  ];
}

/** Every item with its line: a person works through them. */
function askedDetails({ items, omitted }: AskPersonStep["askPerson"]): readonly string[] {
  return [
    "changes nothing; a person does this:",
    ...items.flatMap(({ object, node, what, since, line }) => [
      `${object}${node === "" ? "" : ` on ${node}`}, since ${since}: ${what}`,
      `  ${line}`,
    ]),
    ...(omitted === 0 ? [] : [`${omitted} more did not fit; they follow when these are done`]),
  ];
}

function removalDetails(
  targets: readonly PodTarget[],
  {
    namespace,
    batchPerNode,
    forceAfterSeconds,
  }: { namespace: string; batchPerNode: number; forceAfterSeconds: number },
): readonly string[] {
  const some = targets.slice(0, targetsShown).map(({ name }) => name);
  const more = targets.length > some.length ? `, and ${targets.length - some.length} more` : "";
  return [
    `removes ${plural(targets.length, "pod")} of ${namespace} by UID: ${byNode(targets)}`,
    `at most ${batchPerNode} at once per node; by force only those that still hang after ${forceAfterSeconds} s`,
    `${some.join(", ")}${more}`,
  ];
}

function byNode(targets: readonly PodTarget[]): string {
  const counts = new Map<string, number>();
  for (const { node } of targets) counts.set(node, (counts.get(node) ?? 0) + 1);
  return [...counts].map(([node, count]) => `${count} on ${node}`).join(", ");
}

export function statusLines(status: StepStatus | undefined): readonly string[] {
  if (status === undefined) return [];
  const { phase, message, dryRun, verified, removed, gone, leftAlone = [], commit } = status;
  const facts = [
    dryRun === undefined ? "" : `dry run ${dryRun.toLowerCase()}`,
    removed === undefined ? "" : `${removed} removed`,
    gone === undefined ? "" : `${gone} were gone already`,
    leftAlone.length === 0 ? "" : `${leftAlone.length} left alone`,
    commit === undefined ? "" : `commit ${commit}`,
    verified === true ? "checked" : "",
  ].filter((fact) => fact !== "");
  return [
    [phase, ...facts].join(", ") + (message === "" ? "" : `: ${message}`),
    ...leftAlone.slice(0, targetsShown).map((reason) => `left alone: ${reason}`),
    ...followedLines(status),
  ];
}

function followedLines({ followed = [] }: StepStatus): readonly string[] {
  return followed.map(({ kind, namespace, name }) => `stopped starting meanwhile: ${kind} ${namespace}/${name}`);
}
