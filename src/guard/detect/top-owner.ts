import type { ClusterPod } from "../facts/cluster-pod.ts";
import type { OwnerMarks } from "../facts/owner-facts.ts";
import type { World } from "../facts/world.ts";

/** The owner of a backlog: the highest one whose size decides how many pods there are. */
export interface TopOwner {
  readonly kind: string;
  readonly namespace: string;
  readonly name: string;
  /** Empty for an owner that the guard cannot see. */
  readonly uid: string;
  /** Replicas or parallelism; absent where the kind has none that the guard knows. */
  readonly size?: number;
  /** Somebody has suspended it already. */
  readonly isSuspended?: boolean;
  /** The queue of Kueue that suspends and resumes it. */
  readonly queue?: string;
  readonly marks: OwnerMarks;
}

const noMarks: OwnerMarks = { above: "", trackedBy: "", instance: "" };

/** The owner of this pod as its owner reference says, or the Deployment above it. A CronJob is not climbed to. */
export function topOwnerOf(pod: ClusterPod, world: World): TopOwner {
  const slash = pod.owner.indexOf("/");
  const [kind, name] = [pod.owner.slice(0, slash), pod.owner.slice(slash + 1)];
  const place = { namespace: pod.namespace, name };
  if (kind === "ReplicaSet") return replicaSetOwner(place, world);
  if (kind === "Job") return jobOwner(place, world);
  return { kind, ...place, uid: "", marks: noMarks };
}

interface Place {
  readonly namespace: string;
  readonly name: string;
}

function replicaSetOwner(place: Place, { deployments, owners }: World): TopOwner {
  const own = findAt(owners?.replicaSets, place);
  const isAdopted = own?.above.startsWith("Deployment/") === true;
  if (own !== undefined && !isAdopted)
    return { kind: "ReplicaSet", ...place, uid: own.uid, size: own.replicas, marks: marksOf(own) };
  const name = isAdopted ? own.above.slice("Deployment/".length) : namedAfter(place.name);
  const above = findAt(deployments, { namespace: place.namespace, name });
  if (above === undefined) return { kind: "ReplicaSet", ...place, uid: "", marks: noMarks };
  const { uid = "", desired, marks = noMarks } = above;
  return { kind: "Deployment", namespace: place.namespace, name, uid, size: desired, marks };
}

/** A Deployment names its ReplicaSets after itself plus a hash. `projectReplicaSet` keeps those for which this is wrong. */
export function namedAfter(replicaSet: string): string {
  return replicaSet.slice(0, Math.max(0, replicaSet.lastIndexOf("-")));
}

function jobOwner(place: Place, { owners }: World): TopOwner {
  const job = findAt(owners?.jobs, place);
  if (job === undefined) return { kind: "Job", ...place, uid: "", marks: noMarks };
  const { uid, parallelism, isSuspended, queue } = job;
  const found = { kind: "Job", ...place, uid, size: parallelism, isSuspended, marks: marksOf(job) };
  return queue === undefined ? found : { ...found, queue };
}

function marksOf({ above, trackedBy, instance }: OwnerMarks): OwnerMarks {
  return { above, trackedBy, instance };
}

/** The CronJob that made this Job; undefined when none did, or when it cannot be seen. */
export function cronJobAbove({ kind, namespace, marks }: TopOwner, { owners }: World): TopOwner | undefined {
  const [above, name = ""] = marks.above.split("/");
  if (kind !== "Job" || above !== "CronJob") return undefined;
  const found = findAt(owners?.cronJobs, { namespace, name });
  if (found === undefined) return undefined;
  const { uid, isSuspended } = found;
  return { kind: "CronJob", namespace, name, uid, isSuspended, marks: marksOf(found) };
}

const indexes = new WeakMap<readonly Place[], ReadonlyMap<string, Place>>();

/** Indexed once per list: a cluster with thousands of Deployments has thousands of owners to look up. */
function findAt<T extends Place>(list: readonly T[] | undefined, { namespace, name }: Place): T | undefined {
  if (list === undefined) return undefined;
  const index = indexes.get(list) ?? new Map(list.map((one) => [`${one.namespace}/${one.name}`, one]));
  indexes.set(list, index);
  return index.get(`${namespace}/${name}`) as T | undefined; // made of this list
}
