import { gateLabel } from "../../base/annotations.ts";
import { isObject, objectOf, textOf, type JsonObject } from "../../kube/client/json-fields.ts";
import { stopLabel } from "../../guard/decide/stop-step.ts";
import { terminalPhases, type DecisionPhase } from "../../guard/decision/decision.ts";
import type { ApiUser } from "./api-user.ts";

/** A write as admission sees it. */
export interface AdmittedWrite {
  readonly user: ApiUser;
  readonly operation: "CREATE" | "UPDATE" | "DELETE";
  readonly resource: string;
  readonly before: JsonObject | undefined;
  readonly after: JsonObject | undefined;
  /** The precondition of a DELETE; empty when there is none. */
  readonly deleteUid: string;
  readonly labelsOfNamespace: JsonObject;
}

/** Why a write is refused, and with which status. */
export interface RefusedWrite {
  readonly status: 403 | 422;
  readonly why: string;
}

/** What the definitions in deploy/crd and the policies in deploy/policies say, as far as the guard meets them. */
export function refusedWrite(write: AdmittedWrite): RefusedWrite | undefined {
  const forbidden = forbiddenWrite(write);
  if (forbidden !== undefined) return { status: 403, why: forbidden };
  const invalid = invalidWrite(write);
  return invalid === undefined ? undefined : { status: 422, why: invalid };
}

/** deploy/policies. */
function forbiddenWrite(write: AdmittedWrite): string | undefined {
  return write.user.account === "guard" ? forbiddenToGuard(write) : forbiddenToOthers(write);
}

function forbiddenToOthers(write: AdmittedWrite): string | undefined {
  const { user, resource, operation } = write;
  if (operation === "CREATE" && resource === "pods") return ownerless(write);
  if (operation === "CREATE" && resource === "decisionapprovals" && user.account !== "person")
    return "a person approves, not a workload";
  if (!ofTheGuard.has(resource) || operation === "DELETE" || !isSaid(write)) return undefined;
  return `only the guard writes ${resource}`;
}

function forbiddenToGuard(write: AdmittedWrite): string | undefined {
  const { resource, operation } = write;
  if (resource === "pods") return operation === "DELETE" ? guardDeletes(write) : guardLabels(write);
  if (["deployments", "replicasets", "jobs", "cronjobs"].includes(resource)) return guardScales(write);
  if (resource === "namespaces") return guardLabelsNamespace(write);
  return free.has(resource) ? undefined : `the guard writes nothing else than it is given, and no ${resource}`;
}

const ofTheGuard: ReadonlySet<string> = new Set(["decisions", "rebootgates"]);
/** What the guard's account may write beside pods and workloads. */
const free: ReadonlySet<string> = new Set([
  "decisions",
  "rebootgates",
  "leases",
  "events",
  "configmaps",
  "resourcequotas",
  "daemonsets",
  "statefulsets",
  "nodes",
]);

/** A change of spec or status; labels and finalizers are free. */
function isSaid({ before, after }: AdmittedWrite): boolean {
  return before === undefined || differ(before["spec"], after?.["spec"]) || differ(before["status"], after?.["status"]);
}

function ownerless({ user, after, labelsOfNamespace }: AdmittedWrite): string | undefined {
  const isStopped = labelsOfNamespace[stopLabel.key] === stopLabel.value;
  const owners = metadataOf(after)["ownerReferences"];
  return user.account === "tenant" && isStopped && owners === undefined ? "a pod needs an owner here" : undefined;
}

function guardDeletes({ before, deleteUid }: AdmittedWrite): string | undefined {
  const metadata = metadataOf(before);
  const status = objectOf(before?.["status"]);
  if (deleteUid !== metadata["uid"]) return "the guard deletes by UID only";
  if (metadata["ownerReferences"] !== undefined) return "the guard deletes ownerless pods only";
  const hasRun = (status["phase"] ?? "Pending") !== "Pending" || textOf(status["podIP"]) !== "";
  return hasRun ? "the guard deletes only what never ran" : undefined;
}

function guardLabels({ before, after }: AdmittedWrite): string | undefined {
  const [was, now] = [objectOf(metadataOf(before)["labels"]), objectOf(metadataOf(after)["labels"])];
  const others = (labels: JsonObject): JsonObject => ({ ...labels, [gateLabel]: undefined });
  if (differ(others(was), others(now))) return "the guard changes no other label of a pod";
  return differ(before?.["spec"], after?.["spec"]) || differ(before?.["status"], after?.["status"])
    ? "the guard changes nothing of a pod but that label"
    : undefined;
}

function guardScales({ resource, before, after }: AdmittedWrite): string | undefined {
  const [was, now] = [objectOf(before?.["spec"]), objectOf(after?.["spec"])];
  const namespace = textOf(metadataOf(before)["namespace"]);
  const isSize = differ(was["replicas"], now["replicas"]) || resource === "jobs" || resource === "cronjobs";
  if (!isSize) return undefined;
  if (["kube-system", "levee-system"].includes(namespace)) return `the guard scales nothing in ${namespace}`;
  const sizes = ["replicas", "parallelism"].filter((key) => differ(was[key], now[key]));
  return sizes.some((key) => Number(now[key]) >= Number(was[key])) ? "the guard makes nothing larger" : undefined;
}

function guardLabelsNamespace({ operation, before, after }: AdmittedWrite): string | undefined {
  if (operation !== "UPDATE") return "the guard labels namespaces that are there";
  const [was, now] = [objectOf(metadataOf(before)["labels"]), objectOf(metadataOf(after)["labels"])];
  const others = (labels: JsonObject): JsonObject => ({ ...labels, [stopLabel.key]: undefined });
  if (differ(before?.["spec"], after?.["spec"]) || differ(others(was), others(now)))
    return "the guard changes nothing of a namespace but its label";
  return now[stopLabel.key] === stopLabel.value ? undefined : "the guard sets that label to deny and to nothing else";
}

/** deploy/crd. */
function invalidWrite({ resource, operation, before, after }: AdmittedWrite): string | undefined {
  if (operation !== "UPDATE" || before === undefined || after === undefined) return undefined;
  if (resource === "decisions") return invalidDecision(before, after);
  if (resource === "rebootgates") return olderFence(objectOf(before["status"]), objectOf(after["status"]), false);
  if (resource === "decisionapprovals" && differ(before["spec"], after["spec"])) return "an approval never changes";
  return undefined;
}

function invalidDecision(before: JsonObject, after: JsonObject): string | undefined {
  const [was, now] = [objectOf(before["status"]), objectOf(after["status"])];
  const [from, to] = [textOf(was["phase"]), textOf(now["phase"])];
  if (terminalPhases.has(from as DecisionPhase) && from !== to) return "a terminal phase is final";
  if (from !== "" && from !== "Proposed" && (to === "Proposed" || to === "")) return "a phase is never taken back";
  if (differ(before["spec"], after["spec"]) && from !== "" && from !== "Proposed") return "the plan is frozen";
  return olderFence(was, now, true);
}

function olderFence(was: JsonObject, now: JsonObject, isByLeader: boolean): string | undefined {
  if (was["fence"] === undefined) return undefined;
  const [before, after] = [Number(was["fence"]), Number(now["fence"] ?? -1)];
  const isSame = after === before && (!isByLeader || was["leader"] === now["leader"]);
  return after > before || isSame ? undefined : "an older leader may not write";
}

function metadataOf(object: JsonObject | undefined): JsonObject {
  return objectOf(object?.["metadata"]);
}

function differ(left: unknown, right: unknown): boolean {
  if (isObject(left) && isObject(right)) {
    const keys = new Set([...Object.keys(left), ...Object.keys(right)]);
    return [...keys].some((key) => differ(left[key], right[key]));
  }
  return JSON.stringify(left) !== JSON.stringify(right);
}
