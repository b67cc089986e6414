import { objectOf, textOf, type JsonObject } from "../../kube/client/json-fields.ts";
import { countOf, objectsOf, timeMs } from "../json-values.ts";

/** A PodDisruptionBudget in the few fields that the gate needs. */
export interface BudgetFacts {
  readonly namespace: string;
  readonly name: string;
  /** It allows no eviction, and there are pods that it covers. */
  readonly isShut: boolean;
  /** Since when; 0 when unknown. */
  readonly sinceMs: number;
  /** For the API server; empty while the budget is not shut, and for one that covers its whole namespace. */
  readonly selector: string;
}

export function projectBudget(value: unknown): BudgetFacts | undefined {
  const metadata = objectOf(objectOf(value)["metadata"]);
  const status = objectOf(objectOf(value)["status"]);
  const name = textOf(metadata["name"]);
  if (name === "") return undefined;
  const isShut = countOf(status["disruptionsAllowed"]) === 0 && countOf(status["expectedPods"]) > 0;
  const condition = objectsOf(status["conditions"]).find(({ type }) => type === "DisruptionAllowed");
  return {
    namespace: textOf(metadata["namespace"]),
    name,
    isShut,
    sinceMs: isShut ? timeMs(condition?.["lastTransitionTime"]) : 0,
    selector: isShut ? selectorText(objectOf(objectOf(objectOf(value)["spec"])["selector"])) : "",
  };
}

/** A label selector in the form of the query `labelSelector`. */
function selectorText(selector: JsonObject): string {
  const equal = Object.entries(objectOf(selector["matchLabels"])).map(([key, text]) => `${key}=${textOf(text)}`);
  const terms = objectsOf(selector["matchExpressions"]).map(({ key, operator, values }) => {
    const name = textOf(key);
    const list = Array.isArray(values) ? values.map(textOf).join(",") : "";
    switch (operator) {
      case "In":
        return `${name} in (${list})`;
      case "NotIn":
        return `${name} notin (${list})`;
      case "DoesNotExist":
        return `!${name}`;
      default:
        return name;
    }
  });
  return [...equal, ...terms].join(",");
}

/** A replica of a volume of Longhorn. */
export interface ReplicaFacts {
  readonly namespace: string;
  readonly name: string;
  readonly volume: string;
  /** Where its data is. */
  readonly node: string;
  /** It was healthy and has not failed since. */
  readonly isHealthy: boolean;
}

export function projectReplica(value: unknown): ReplicaFacts | undefined {
  const metadata = objectOf(objectOf(value)["metadata"]);
  const spec = objectOf(objectOf(value)["spec"]);
  const name = textOf(metadata["name"]);
  if (name === "") return undefined;
  return {
    namespace: textOf(metadata["namespace"]),
    name,
    volume: textOf(spec["volumeName"]),
    node: textOf(spec["nodeID"]),
    isHealthy:
      textOf(spec["healthyAt"]) !== "" &&
      textOf(spec["failedAt"]) === "" &&
      textOf(metadata["deletionTimestamp"]) === "",
  };
}

/** By node, the volumes that have healthy replicas there and nowhere else. */
export function lastReplicas(replicas: Iterable<ReplicaFacts>): ReadonlyMap<string, readonly string[]> {
  const nodes = new Map<string, string | undefined>();
  for (const { volume, node, isHealthy } of replicas) {
    if (!isHealthy || volume === "" || node === "") continue;
    // Undefined: on several nodes.
    if (!nodes.has(volume)) nodes.set(volume, node);
    else if (nodes.get(volume) !== node) nodes.set(volume, undefined);
  }
  const found = new Map<string, string[]>();
  for (const [volume, node] of nodes) {
    if (node === undefined) continue;
    const volumes = found.get(node);
    if (volumes === undefined) found.set(node, [volume]);
    else volumes.push(volume);
  }
  return found;
}
