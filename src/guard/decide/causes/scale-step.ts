import type { JobTarget, ScalableKind, ScaleOwner } from "../../decision/scale-owner.ts";
import { jobsMax } from "../../decision/limits.ts";
import type { Runaway } from "../../detect/runaway.ts";
import { kubectl } from "../kubectl-lines.ts";
import type { StepDraft } from "../step-draft.ts";

/** Controllers remove hundreds of pods within this time. */
const checkSeconds = 600;
/** Pods that start keep the number true; one is enough to see whether any starts. */
const leftMin = 1;

/**
 * How the owner should change, with the reason; undefined when it has no more pods to lose. Controllers end pods that do
 * not run before those that do, so what has started stays. A Job without any running pod is suspended; one with running
 * pods is not, because that would end them too.
 */
export function scaleChange({ owner, started, jobs, members }: Runaway, kind: ScalableKind): ScaleOwner | undefined {
  const { namespace, name, uid, size = 0 } = owner;
  const target = { kind, namespace, name, uid };
  if (kind === "CronJob") {
    const still = jobs
      .filter((job) => job.started === 0 && job.owner.uid !== "" && job.owner.isSuspended !== true)
      // Kueue would resume them.
      .filter(({ owner: { queue } }) => queue === undefined);
    const named = still.slice(0, jobsMax).map((job): JobTarget => ({ name: job.owner.name, uid: job.owner.uid }));
    const why = `${jobs.length} of its Jobs have pods that do not start, and it makes more`;
    return { ...target, way: "Suspend", why, ...(named.length === 0 ? {} : { jobs: named }) };
  }
  if (kind === "Job" && started === 0) {
    const why = `none of its ${members.length} pods has started, so it loses nothing; it goes on when it is resumed`;
    return { ...target, way: "Suspend", why };
  }
  const to = Math.max(leftMin, started);
  if (to >= size) return undefined;
  const why =
    started === 0
      ? `none of its ${members.length} pods has started; one is enough to see whether any does`
      : `${started} of its pods have started and stay; ${members.length} have not`;
  return { ...target, way: "Scale", from: size, to, why };
}

export function scaleStep(change: ScaleOwner): StepDraft {
  const { kind, namespace, name, uid } = change;
  const label = `${kind} ${namespace}/${name}`;
  const jobs = change.way === "Suspend" ? (change.jobs ?? []) : [];
  return ({ id, decision, namespace: home }) => ({
    id,
    action: "ScaleOwner",
    title: titleOf(change, label),
    kubectl: [
      doLine(change),
      ...(jobs.length === 0 ? [] : [jobsLine({ home, decision, step: id }, namespace, true)]),
      kubectl("-n", namespace, "get", `${kind.toLowerCase()}/${name}`, "-o", "wide"),
      // To take it back: what it was.
      undoScaleLine(change),
      ...(jobs.length === 0 ? [] : [jobsLine({ home, decision, step: id }, namespace, false)]),
    ],
    preconditions: [
      change.way === "Scale"
        ? `It has the UID ${uid} and is still ${change.from} in size`
        : `It has the UID ${uid} and is not suspended`,
      "Nobody above it and no autoscaler would put it back, and its pods still do not start",
    ],
    check: {
      what:
        change.way === "Scale"
          ? `Its controller has seen the new number, and it has no more than ${change.to} pods`
          : "It is suspended, and so are its Jobs of the plan",
      deadlineSeconds: checkSeconds,
    },
    scaleOwner: change,
  });
}

function titleOf(change: ScaleOwner, label: string): string {
  if (change.way === "Scale") return `Scale ${label} from ${change.from} to ${change.to}: ${change.why}`;
  const count = change.jobs?.length ?? 0;
  return `Suspend ${label}${count === 0 ? "" : ` and ${count} of its Jobs`}: ${change.why}`;
}

function doLine(change: ScaleOwner): string {
  return change.way === "Scale" ? sizeLine(change, change.to) : suspendLine(change, true);
}

/** Sets it back to what it was at the proposal. */
export function undoScaleLine(change: ScaleOwner): string {
  return change.way === "Scale" ? sizeLine(change, change.from) : suspendLine(change, false);
}

function sizeLine({ kind, namespace, name }: ScaleOwner, size: number): string {
  if (kind !== "Job") return kubectl("-n", namespace, "scale", `${kind.toLowerCase()}/${name}`, `--replicas=${size}`);
  const patch = JSON.stringify({ spec: { parallelism: size } });
  return kubectl("-n", namespace, "patch", "job", name, "--type=merge", "-p", patch);
}

function suspendLine({ kind, namespace, name }: ScaleOwner, suspend: boolean): string {
  const patch = JSON.stringify({ spec: { suspend } });
  return kubectl("-n", namespace, "patch", kind.toLowerCase(), name, "--type=merge", "-p", patch);
}

interface StepAt {
  readonly home: string;
  readonly decision: string;
  readonly step: number;
}

/** The Jobs of the plan, each only if it still has its UID. */
function jobsLine({ home, decision, step }: StepAt, namespace: string, suspend: boolean): string {
  const template = `{range .spec.steps[${step - 1}].scaleOwner.jobs[*]}{.name} {.uid}{"\\n"}{end}`;
  const list = kubectl("-n", home, "get", "decision", decision, "-o", `jsonpath=${template}`);
  const patch = `[{"op":"test","path":"/metadata/uid","value":"'"$uid"'"},{"op":"add","path":"/spec/suspend","value":${suspend}}]`;
  const one = `kubectl -n ${namespace} patch job "$name" --type=json -p '${patch}'`;
  return `${list} | while read -r name uid; do ${one}; done`;
}
