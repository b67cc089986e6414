import type { DecisionPurpose } from "../../decision/decision.ts";
import type { Runaway } from "../../detect/runaway.ts";
import type { GuardSettings } from "../../facts/guard-settings.ts";
import type { World } from "../../facts/world.ts";
import { timeText } from "../../json-values.ts";
import { argoOwners, unseenTracker, type ArgoOwner } from "../argo-owners.ts";
import { neededNotes } from "../critical-notes.ts";
import { evidenceOf } from "../evidence.ts";
import { holdStep, isProjectName } from "../hold-step.ts";
import { kubectl, kueueStopLine } from "../kubectl-lines.ts";
import { verifyStep } from "../verify-step.ts";
import { askStep } from "./ask-step.ts";
import type { PlanContent, SeenCause } from "./make-proposal.ts";
import { handReason, scalableKind } from "./put-back.ts";
import { scaleChange, scaleStep, undoScaleLine } from "./scale-step.ts";

/** A person is at the keyboard when this begins. */
const askSeconds = 900;
/** A note has 1,024 characters. */
const queuedShown = 12;
/** No person types more holds than this. */
const ownersMax = 4;

/** Who has to make this workload smaller: the guard, or a person. */
export function runawayPurpose(
  runaway: Pick<Runaway, "owner" | "sinceMs">,
  world: World,
  settings: GuardSettings,
): DecisionPurpose {
  return handReason(runaway, world, settings) === undefined && canHold(argoAbove(runaway, world))
    ? "StopSource"
    : "ByHand";
}

/** Makes the owner smaller or suspends it, or asks a person where another program would put it back. */
export function runawayPlan(seen: SeenCause<Runaway>): PlanContent | undefined {
  const { cause, chain, world, settings } = seen;
  const told = { ...storyOf(cause), evidence: evidenceOf(rowsOf(cause), seen) };
  const verify = verifyStep(cause, chain.linked, world, settings);
  if (runawayPurpose(cause, world, settings) === "ByHand")
    return {
      ...told,
      purpose: "ByHand",
      drafts: [questionOf(cause, world, settings), verify],
      notes: handNotes(cause),
    };
  const kind = scalableKind(cause.owner.kind);
  const change = kind === undefined ? undefined : scaleChange(cause, kind);
  if (change === undefined) return undefined;
  const holds = argoAbove(cause, world);
  return {
    ...told,
    purpose: "StopSource",
    drafts: [...holds.map(holdStep), scaleStep(change), verify],
    notes: [
      `What has started stays: controllers end pods that do not run first. To undo it when the cause is repaired: ${undoScaleLine(change)}`,
      ...neededNotes(cause.namespace, world),
      ...jobNotes(cause),
      ...holds.map(argoNote),
      ...unseenNotes(cause, holds),
      "Until it is approved, this plan follows the workload",
    ],
  };
}

function rowsOf({ members, recent, started, owner, jobs }: Runaway): Parameters<typeof evidenceOf>[0] {
  return [
    ["pods of one owner that do not start", members.length, `${owner.kind} ${owner.namespace}/${owner.name}`],
    ["of these, created in the last half hour", recent],
    ["other pods of it, which have started", started],
    ...(owner.size === undefined ? [] : [["pods that it asks for", owner.size] as const]),
    ...(jobs.length === 0 ? [] : [["unfinished Jobs of it with such pods", jobs.length] as const]),
  ];
}

function storyOf({ members, nodes, sinceMs, recent, started }: Runaway): Pick<PlanContent, "story"> {
  const others = started === 0 ? "none of its pods has started" : `${started} of its pods have started`;
  return {
    story: [
      `: its controller keeps them there, and kubelet keeps asking for their network on ${nodes.size === 1 ? "one node" : `${nodes.size} nodes`}`,
      `The oldest of these ${members.length} was created at ${timeText(sinceMs)}, ${recent} in the last half hour; ${others}`,
    ],
  };
}

function questionOf(cause: Runaway, world: World, settings: GuardSettings): ReturnType<typeof askStep> {
  const { kind, namespace, name } = cause.owner;
  const label = `${kind} ${namespace}/${name}`;
  const reason = handReason(cause, world, settings);
  const item = reason ?? {
    object: `${kind}/${namespace}/${name}`,
    node: "",
    uid: "",
    what: `Argo CD would put ${label} back, and its Applications cannot be held by one line each`,
    since: timeText(cause.sinceMs),
    line: "change its size in git",
  };
  return askStep({
    about: "Owner",
    title: `Wait until a person has made ${label} smaller: ${item.what}`,
    items: [item],
    kubectl: [
      ...(item.line.startsWith("kubectl") ? [item.line] : []),
      kubectl("-n", namespace, "get", "pods", "-o", "wide"),
    ],
    done: "Fewer than ten of its pods do not start",
    deadlineSeconds: askSeconds,
  });
}

function handNotes({ members }: Runaway): readonly string[] {
  return [
    `The guard changes nothing here. Approve when you begin; it then looks until the ${members.length} pods have started or are gone`,
  ];
}

/** Jobs of a CronJob that have running pods are not suspended with it. */
function jobNotes({ owner, jobs }: Runaway): readonly string[] {
  if (owner.kind === "Job" && owner.marks.above !== "")
    return [`${owner.marks.above} made this Job and makes the next one when its time comes`];
  const [first, ...rest] = jobs.filter(({ started }) => started > 0);
  const more = rest.length === 0 ? "" : ` and ${rest.length} more`;
  return [
    ...(first === undefined
      ? []
      : [`Job ${first.owner.name}${more} has running pods too and is not suspended: that would end them`]),
    ...queuedNotes(owner.namespace, jobs),
  ];
}

/** Jobs of Kueue are left to a person, because it would resume them. */
function queuedNotes(namespace: string, jobs: Runaway["jobs"]): readonly string[] {
  const queued = jobs.filter((job) => job.started === 0 && job.owner.queue !== undefined);
  if (queued.length === 0) return [];
  const uids = queued.slice(0, queuedShown).map((job) => job.owner.uid);
  const more = queued.length > uids.length ? ` (the first ${uids.length})` : "";
  return [
    `Kueue decides when ${queued.length} of its Jobs run and would resume them, so they are not suspended. To take them out of its queue${more}: ${kueueStopLine(namespace, uids)}`,
  ];
}

function argoAbove({ owner }: Pick<Runaway, "owner">, world: World): readonly ArgoOwner[] {
  return argoOwners({ ...owner, ...owner.marks }, world);
}

function canHold(holds: readonly ArgoOwner[]): boolean {
  return holds.length <= ownersMax && holds.every(({ application }) => isProjectName(application.project));
}

function argoNote({ application }: ArgoOwner): string {
  return `Argo CD's Application ${application.name} would put it back at its next sync: the plan waits until a person holds it with the line of its step; change the number in git before the hold ends`;
}

function unseenNotes({ owner }: Runaway, holds: readonly ArgoOwner[]): readonly string[] {
  const unseen = unseenTracker(owner.marks, holds);
  return unseen === undefined
    ? []
    : [`It is marked as owned by the Application ${unseen}, which this guard cannot see and which may put it back`];
}
