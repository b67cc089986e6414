import { objectOf, textOf, type JsonObject } from "../../kube/client/json-fields.ts";
import { queueLabel } from "../facts/kueue-job.ts";
import type {
  AutoscalerFacts,
  CronJobFacts,
  JobFacts,
  OwnerFacts,
  OwnerMarks,
  ReplicaSetFacts,
} from "../facts/owner-facts.ts";
import { namedAfter } from "../detect/top-owner.ts";
import { countOf, objectsOf } from "../json-values.ts";
import type { Follow } from "./follow-dependencies.ts";

/** Argo CD's mark on managed objects: `application:group/kind:namespace/name`. */
const trackingAnnotation = "argocd.argoproj.io/tracking-id";
const instanceLabel = "app.kubernetes.io/instance";

/**
 * Follows the owners of pods. The guard works without the right to read them, and then proposes nothing about them: the
 * returned function gives undefined until all are listed.
 */
export function followOwners(follow: Follow): () => OwnerFacts | undefined {
  const jobs = follow("jobs", "/apis/batch/v1/jobs", projectJob);
  const cronJobs = follow("cronjobs", "/apis/batch/v1/cronjobs", projectCronJob);
  const replicaSets = follow("replicasets", "/apis/apps/v1/replicasets", projectReplicaSet);
  const scalers = "/apis/autoscaling/v2/horizontalpodautoscalers";
  const autoscalers = follow("horizontalpodautoscalers", scalers, projectAutoscaler);
  const all = [jobs, cronJobs, replicaSets, autoscalers];
  return () =>
    all.some((reflector) => !reflector.health().isSynced)
      ? undefined
      : {
          jobs: [...jobs.store.values()],
          cronJobs: [...cronJobs.store.values()],
          replicaSets: [...replicaSets.store.values()],
          autoscalers: [...autoscalers.store.values()],
        };
}

/** Undefined for a finished Job: a CronJob keeps thousands of them. */
export function projectJob(value: unknown): JobFacts | undefined {
  const spec = objectOf(objectOf(value)["spec"]);
  const isOver = objectsOf(objectOf(objectOf(value)["status"])["conditions"]).some(
    ({ type, status }) => (type === "Complete" || type === "Failed") && status === "True",
  );
  if (nameOf(value) === "" || isOver) return undefined;
  const { parallelism } = spec;
  return {
    ...ownerObject(value, "batch/Job"),
    // Kubernetes' default.
    parallelism: parallelism === undefined ? 1 : countOf(parallelism),
    isSuspended: spec["suspend"] === true,
    ...queueOf(value),
  };
}

/** A Job of Kueue that was made without this label never gets to run, so it has no pods either. */
function queueOf(value: unknown): Pick<JobFacts, "queue"> {
  const queue = textOf(objectOf(metadataOf(value)["labels"])[queueLabel]);
  return queue === "" ? {} : { queue };
}

export function projectCronJob(value: unknown): CronJobFacts | undefined {
  if (nameOf(value) === "") return undefined;
  const isSuspended = objectOf(objectOf(value)["spec"])["suspend"] === true;
  return { ...ownerObject(value, "batch/CronJob"), isSuspended };
}

/**
 * Undefined below the Deployment after which it is named: there are ten of these for each, and their names say as much as
 * their owner references. One that a Deployment has adopted, or whose name only looks like that, is kept.
 */
export function projectReplicaSet(value: unknown): ReplicaSetFacts | undefined {
  const owner = ownerObject(value, "apps/ReplicaSet");
  if (owner.name === "" || owner.above === `Deployment/${namedAfter(owner.name)}`) return undefined;
  const { replicas } = objectOf(objectOf(value)["spec"]);
  return { ...owner, replicas: replicas === undefined ? 1 : countOf(replicas) };
}

export function projectAutoscaler(value: unknown): AutoscalerFacts | undefined {
  const name = nameOf(value);
  if (name === "") return undefined;
  const target = objectOf(objectOf(objectOf(value)["spec"])["scaleTargetRef"]);
  const namespace = textOf(metadataOf(value)["namespace"]);
  return { namespace, name, target: `${textOf(target["kind"])}/${textOf(target["name"])}` };
}

function ownerObject(
  value: unknown,
  kind: string,
): OwnerMarks & { readonly namespace: string; readonly name: string; readonly uid: string } {
  const metadata = metadataOf(value);
  return {
    namespace: textOf(metadata["namespace"]),
    name: nameOf(value),
    uid: textOf(metadata["uid"]),
    ...ownerMarks(metadata, kind),
  };
}

/** `kind` with its group, as Argo CD writes it. */
export function ownerMarks(metadata: JsonObject, kind: string): OwnerMarks {
  const label = `${textOf(metadata["namespace"])}/${textOf(metadata["name"])}`;
  const above = objectsOf(metadata["ownerReferences"]).find(({ controller }) => controller === true);
  return {
    above: above === undefined ? "" : `${textOf(above["kind"])}/${textOf(above["name"])}`,
    trackedBy: trackerOf(textOf(objectOf(metadata["annotations"])[trackingAnnotation]), kind, label),
    instance: textOf(objectOf(metadata["labels"])[instanceLabel]),
  };
}

/** Ignores an annotation that was copied from another object, as Argo CD does. */
function trackerOf(trackingId: string, kind: string, label: string): string {
  const [application = "", ofKind, object] = trackingId.split(":");
  return ofKind === kind && object === label ? application : "";
}

function metadataOf(value: unknown): JsonObject {
  return objectOf(objectOf(value)["metadata"]);
}

function nameOf(value: unknown): string {
  return textOf(metadataOf(value)["name"]);
}
