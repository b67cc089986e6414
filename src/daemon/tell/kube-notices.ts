import type { ClusterView } from "../../kube/watch/cluster-view.ts";
import type { ReflectorHealth } from "../../kube/watch/facts.ts";
import type { KubeAnnouncer } from "./kube-announcer.ts";
import type { KubeStatusPublisher } from "./kube-status.ts";
import { awaySinceMs } from "../source/kube-view.ts";

/** The parts of a cluster as source that can say how they are. */
export interface KubeParts {
  readonly server: string;
  readonly cluster: Pick<ClusterView, "health" | "synced">;
  readonly publisher: Pick<KubeStatusPublisher, "health">;
  readonly announcer: Pick<KubeAnnouncer, "health">;
}

/** What a person should know of the API server and of what waits for it. */
export function kubeNotices(parts: KubeParts): readonly string[] {
  return [...viewNotices(parts), ...outboxNotices(parts)];
}

function viewNotices({ server, cluster }: KubeParts): string[] {
  const { pods, networks } = cluster.health();
  const sinceMs = awaySinceMs(cluster);
  const away =
    sinceMs === undefined
      ? []
      : [
          `The API server ${server} has not answered since ${momentText(sinceMs)} (${pods.lastError ?? networks.lastError ?? "no reason"}); pods and networks that are known here are served all the same`,
        ];
  return [...away, ...[pods, networks].flatMap(refusalNotice), ...[pods, networks].flatMap(unsyncedNotice)];
}

/** It answers, and the answer is no: a person must change something. */
function refusalNotice(health: ReflectorHealth): string[] {
  const { resource, lastError, isUnreachable, isAbsent, failingSinceMs } = health;
  if (failingSinceMs === undefined || isUnreachable) return [];
  if (isAbsent) return [`The cluster has no ${resource}: install their CRD before pods ask for more than one network`];
  return [`${resource} cannot be followed since ${momentText(failingSinceMs)}: ${lastError ?? "no reason"}`];
}

/** A list that is only just being taken is no news. */
function unsyncedNotice({ resource, isSynced, isAbsent, failingSinceMs }: ReflectorHealth): string[] {
  if (isSynced || isAbsent || failingSinceMs === undefined) return [];
  return [`The first list of ${resource} is not complete; what it lacks is asked for one by one`];
}

function outboxNotices({ publisher, announcer }: KubeParts): string[] {
  const boxes = [
    { what: "network-status annotation", ...publisher.health() },
    { what: "event", ...announcer.health() },
  ];
  return boxes.flatMap(({ what, waiting, awaySinceMs: sinceMs, refusal }) => [
    ...(waiting === 0 || sinceMs === undefined
      ? []
      : [`${waiting} ${waiting === 1 ? what : `${what}s`} wait for the API server since ${momentText(sinceMs)}`]),
    ...(refusal === undefined ? [] : [`The API server does not take every ${what}: ${refusal}`]),
  ]);
}

function momentText(wallMs: number): string {
  return new Date(wallMs).toISOString().replace(/\.\d+Z$/u, "Z");
}
