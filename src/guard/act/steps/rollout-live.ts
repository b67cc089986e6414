import { objectOf, type JsonObject } from "../../../kube/client/json-fields.ts";
import type { RestartableKind } from "../../decision/step.ts";
import { countOf } from "../../json-values.ts";
import { rolloutMissing } from "./daemon-set-live.ts";

/** What is missing until the newest template of a workload runs everywhere, as `kubectl rollout status` sees it. */
export function rolloutOf(kind: RestartableKind, live: unknown): string | undefined {
  switch (kind) {
    case "DaemonSet":
      return rolloutMissing(live);
    case "Deployment":
      return deploymentMissing(live);
    case "StatefulSet":
      return statefulSetMissing(live);
  }
}

function deploymentMissing(live: unknown): string | undefined {
  const { desired, status, unseen } = partsOf(live);
  if (unseen !== undefined) return unseen;
  const updated = countOf(status["updatedReplicas"]);
  const old = countOf(status["replicas"]) - updated;
  if (updated < desired) return `${updated} of ${desired} pods have the newest revision`;
  if (old > 0) return `${old} pods of the old revision are still there`;
  const available = countOf(status["availableReplicas"]);
  return available < desired ? `${available} of ${desired} pods are ready` : undefined;
}

function statefulSetMissing(live: unknown): string | undefined {
  const { desired, spec, status, unseen } = partsOf(live);
  if (unseen !== undefined) return unseen;
  // Pods below the partition keep the old revision on purpose.
  const partition = countOf(objectOf(objectOf(spec["updateStrategy"])["rollingUpdate"])["partition"]);
  const wanted = Math.max(0, desired - partition);
  const updated = countOf(status["updatedReplicas"]);
  if (updated < wanted) return `${updated} of ${wanted} pods have the newest revision`;
  return readyMissing(live);
}

/** A StatefulSet's ready pods, of whichever revision. */
export function readyMissing(live: unknown): string | undefined {
  const { desired, status } = partsOf(live);
  const ready = countOf(status["readyReplicas"]);
  return ready < desired ? `${ready} of ${desired} are ready` : undefined;
}

interface Parts {
  readonly desired: number;
  readonly spec: JsonObject;
  readonly status: JsonObject;
  readonly unseen: string | undefined;
}

function partsOf(live: unknown): Parts {
  const spec = objectOf(objectOf(live)["spec"]);
  const status = objectOf(objectOf(live)["status"]);
  const generation = countOf(objectOf(objectOf(live)["metadata"])["generation"]);
  const isSeen = countOf(status["observedGeneration"]) >= generation;
  return {
    // Kubernetes' default is one.
    desired: spec["replicas"] === undefined ? 1 : countOf(spec["replicas"]),
    spec,
    status,
    unseen: isSeen ? undefined : "its controller has not yet seen the newest change",
  };
}
