import { objectOf, textOf, type JsonObject } from "../../kube/client/json-fields.ts";
import type { Decision } from "../../guard/decision/decision.ts";
import type { Step } from "../../guard/decision/step.ts";
import type { AcceptedWrite } from "./api-server.ts";

/** Resources whose changes by a guard are what a plan is for. Everything else is its own book-keeping. */
const planned: ReadonlySet<string> = new Set([
  "daemonsets",
  "deployments",
  "statefulsets",
  "replicasets",
  "jobs",
  "cronjobs",
  "namespaces",
  "resourcequotas",
]);

/** Whether a guard has changed the cluster with this write. A label of the gate is not an effect of a plan. */
export function isEffect({ user, resource, operation, isDryRun, isChange }: AcceptedWrite): boolean {
  if (user.account !== "guard" || isDryRun || !isChange) return false;
  return planned.has(resource) || (resource === "pods" && operation === "DELETE");
}

/** The open and ended Decisions with a step about the object of this write. */
export function coveringDecisions(decisions: readonly JsonObject[], write: AcceptedWrite): readonly Decision[] {
  const all = decisions as unknown as readonly Decision[]; // the guard wrote them
  return all.filter(({ spec }) => spec.steps.some((step) => covers(step, write)));
}

function covers(step: Step, { resource, key, before, after }: AcceptedWrite): boolean {
  const { uid, name } = objectOf((before ?? after)?.["metadata"]);
  if (resource === "pods") return step.action === "RemovePods" && step.targets.some((target) => target.uid === uid);
  if (step.action === "StopSource")
    return resource === "namespaces"
      ? name === step.stopSource.namespace
      : key.startsWith(`${step.stopSource.namespace}/`);
  const place = placeOf(step);
  return place !== undefined && key === `${place.namespace}/${place.name}`;
}

function placeOf(step: Step): { readonly namespace: string; readonly name: string } | undefined {
  if (step.action === "SetMemoryLimit") return step.setMemoryLimit;
  if (step.action === "RestartWorkload") return step.restartWorkload;
  return step.action === "ScaleOwner" ? step.scaleOwner : undefined;
}

/** What of an object a write has changed, so that a second change of the same kind can be told from another one. */
export function kindOfChange({ resource, before, after }: AcceptedWrite): string {
  const containers = (object: JsonObject | undefined): string =>
    JSON.stringify(objectOf(objectOf(objectOf(object?.["spec"])["template"])["spec"])["containers"]) ?? "";
  return containers(before) === containers(after) ? resource : `${resource} containers`;
}

/** Whether a Decision says that what people outside see is well again. */
export function isVerified(decision: JsonObject | undefined): boolean {
  if (decision === undefined) return false;
  const { spec, status } = decision as unknown as Decision; // the guard wrote it
  return spec.steps.some(
    (step) =>
      step.action === "Verify" &&
      step.verify.checks.some(({ check }) => check === "ProbesSucceed") &&
      status?.steps?.some(({ id, phase }) => id === step.id && phase === "Done") === true,
  );
}

/** The pods that a guard says it has counted. */
export function countedRemovals(configMap: JsonObject | undefined): number {
  const text = Object.values(objectOf(configMap?.["data"])).find((value) => textOf(value).includes('"hours"'));
  const hours = objectOf(objectOf(JSON.parse(textOf(text) || "{}"))["hours"]);
  return Object.values(hours)
    .flatMap((byNamespace) => Object.values(objectOf(byNamespace)))
    .reduce<number>((sum, count) => sum + Number(count), 0);
}
