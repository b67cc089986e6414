import type { ClusterView } from "../../kube/watch/cluster-view.ts";
import type { ClaimTeller } from "../tell/claim-teller.ts";
import type { KubeEventTeller } from "../tell/kube-event-teller.ts";
import type { KubeStatusTeller } from "../tell/kube-status-teller.ts";
import { awaySinceMs } from "./kube-view.ts";
import type { ReflectorHealth } from "../../kube/watch/reflector-health.ts";

/** The parts of a cluster source whose health a person may ask for. */
export interface KubeParts {
  readonly server: string;
  readonly cluster: Pick<ClusterView, "health" | "synced">;
  readonly statusTeller: Pick<KubeStatusTeller, "health">;
  readonly eventTeller: Pick<KubeEventTeller, "health">;
  readonly claimTeller?: Pick<ClaimTeller, "health"> | undefined;
}

/** The present problems with the API server and the outboxes. */
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
          `The API server ${server} has not answered since ${momentText(sinceMs)} (${pods.lastError ?? networks.lastError ?? "no reason"}); known pods and networks are still served`,
        ];
  return [...away, ...[pods, networks].flatMap(refusalNotice), ...[pods, networks].flatMap(unsyncedNotice)];
}

/** The server refuses, so a person must change something. */
function refusalNotice(health: ReflectorHealth): string[] {
  const { resource, lastError, isUnreachable, isAbsent, failingSinceMs } = health;
  if (failingSinceMs === undefined || isUnreachable) return [];
  if (isAbsent) return [`The cluster has no ${resource}: install their CRD before pods ask for more than one network`];
  return [`${resource} cannot be followed since ${momentText(failingSinceMs)}: ${lastError ?? "no reason"}`];
}

/** A first list that is under way and works needs no notice. */
function unsyncedNotice({ resource, isSynced, isAbsent, failingSinceMs }: ReflectorHealth): string[] {
  if (isSynced || isAbsent || failingSinceMs === undefined) return [];
  return [`The first list of ${resource} is not complete; missing objects are read one by one`];
}

function outboxNotices({ statusTeller, eventTeller, claimTeller }: KubeParts): string[] {
  const boxes = [
    { what: "network-status annotation", ...statusTeller.health() },
    { what: "event", ...eventTeller.health() },
    ...(claimTeller === undefined ? [] : [{ what: "claim update", ...claimTeller.health() }]),
  ];
  return boxes.flatMap(({ what, waiting, awaySinceMs: sinceMs, refusal }) => [
    ...(waiting === 0 || sinceMs === undefined
      ? []
      : [
          `${waiting} ${waiting === 1 ? `${what} has` : `${what}s have`} waited for the API server since ${momentText(sinceMs)}`,
        ]),
    ...(refusal === undefined ? [] : [`The API server refuses some ${what}s: ${refusal}`]),
  ]);
}

function momentText(wallMs: number): string {
  return new Date(wallMs).toISOString().replace(/\.\d+Z$/u, "Z");
}
