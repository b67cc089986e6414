import { isObject, objectOf, textOf, type JsonObject } from "../../kube/client/json-fields.ts";
import { objectsOf } from "../json-values.ts";
import {
  decisionApiVersion,
  decisionCauses,
  decisionPhases,
  decisionPurposes,
  type Decision,
  type DecisionStatus,
} from "./decision.ts";
import { planHash } from "./plan-hash.ts";
import { stepActions } from "./step.ts";

/**
 * Undefined for an object that this guard cannot have written. The CRD's schema has checked the fields; this function
 * checks only the ones that decide how the rest is read.
 */
export function parseDecision(value: unknown): Decision | undefined {
  const metadata = objectOf(objectOf(value)["metadata"]);
  const spec = objectOf(objectOf(value)["spec"]);
  const subject = objectOf(spec["subject"]);
  const steps = objectsOf(spec["steps"]);
  const isKnown =
    textOf(metadata["name"]) !== "" &&
    isSubject(spec["cause"], subject) &&
    decisionPurposes.some((one) => one === spec["purpose"]) &&
    steps.length > 0 &&
    steps.every(isStep);
  if (!isKnown) return undefined;
  // The checks above cover what the types promise.
  const decision = { ...objectOf(value), apiVersion: decisionApiVersion, kind: "Decision" } as unknown as Decision;
  const { status, ...rest } = decision;
  const known = statusOf(status);
  return known === undefined ? rest : { ...rest, status: known };
}

/** A cause about pods has a namespace; one about nodes has none. */
function isSubject(cause: unknown, subject: JsonObject): boolean {
  const known = decisionCauses.find((one) => one === cause);
  if (known === undefined) return false;
  const isOfNodes = known === "ReservedSandboxNames" || known === "RebootBacklog";
  return isOfNodes === (textOf(subject["namespace"]) === "");
}

/** Whether the plan still matches its hash. A plan that does not is never carried out. */
export function isPlanIntact({ spec }: Decision): boolean {
  try {
    return planHash(spec) === spec.planHash;
  } catch {
    // A number that no plan has: another program wrote it.
    return false;
  }
}

/** A step has an action and a member of that name. */
function isStep(step: JsonObject): boolean {
  const action = stepActions.find((one) => one === step["action"]);
  if (action === undefined || typeof step["id"] !== "number") return false;
  const member = action.charAt(0).toLowerCase() + action.slice(1);
  return isObject(step[member]) && (action !== "RemovePods" || hasTargets(step));
}

function hasTargets(step: JsonObject): boolean {
  const targets = objectsOf(step["targets"]);
  return targets.length > 0 && targets.every((target) => textOf(target["uid"]) !== "" && textOf(target["name"]) !== "");
}

function statusOf(status: unknown): DecisionStatus | undefined {
  if (!isObject(status)) return undefined;
  // The schema has checked the rest.
  return decisionPhases.some((phase) => phase === status["phase"]) ? (status as unknown as DecisionStatus) : undefined;
}
