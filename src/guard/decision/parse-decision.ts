import { isObject, objectOf, textOf, type JsonObject } from "../../kube/client/json-fields.ts";
import { objectsOf } from "../facts/json-values.ts";
import { decisionApiVersion, decisionPhases, type Decision, type DecisionStatus } from "./decision.ts";
import { planHash } from "./plan-hash.ts";
import { stepActions } from "./step.ts";

/**
 * A Decision as the API server has it; undefined for what this guard cannot have written. The definition's schema has
 * checked the fields; looked at here is what decides how they are read, and that the plan is the one that was hashed.
 */
export function parseDecision(value: unknown): Decision | undefined {
  const metadata = objectOf(objectOf(value)["metadata"]);
  const spec = objectOf(objectOf(value)["spec"]);
  const subject = objectOf(spec["subject"]);
  const steps = objectsOf(spec["steps"]);
  const isKnown =
    textOf(metadata["name"]) !== "" &&
    spec["cause"] === "OwnerlessPodAvalanche" &&
    (spec["purpose"] === "StopSource" || spec["purpose"] === "Recover") &&
    textOf(subject["namespace"]) !== "" &&
    steps.length > 0 &&
    steps.every(isStep);
  if (!isKnown) return undefined;
  // Checked above as far as the types below are relied on.
  const decision = { ...objectOf(value), apiVersion: decisionApiVersion, kind: "Decision" } as unknown as Decision;
  const { status, ...rest } = decision;
  const known = statusOf(status);
  return known === undefined ? rest : { ...rest, status: known };
}

/** Whether the plan still is what its hash says. One that is not is never carried out. */
export function isPlanIntact({ spec }: Decision): boolean {
  try {
    return planHash(spec) === spec.planHash;
  } catch {
    // A number that no plan has: somebody else wrote it.
    return false;
  }
}

/** A step is its action and the member of that name. */
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
  // As above: the schema has checked the rest.
  return decisionPhases.some((phase) => phase === status["phase"]) ? (status as unknown as DecisionStatus) : undefined;
}
