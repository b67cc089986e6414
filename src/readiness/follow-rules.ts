import { failed, passed, warned, type Check } from "./check.ts";

/** How well the local copy of one resource follows the API server. */
export interface FollowFacts {
  readonly resource: string;
  readonly objects: number;
  /** A complete list has been taken. */
  readonly isSynced: boolean;
  /** Why list or watch fails now; undefined while it works. */
  readonly lastError: string | undefined;
  /** Wall time; undefined while it works. */
  readonly failingSinceMs: number | undefined;
  /** The server does not answer at all, not even with a refusal. */
  readonly isUnreachable: boolean;
  /** The server does not know the resource. */
  readonly isAbsent: boolean;
}

/** Reopening a watch takes a moment, and a probe in that moment must not fail. */
const graceMs = 5_000;

/**
 * Whether the API server answers. It counts in /readyz, where it stops a rollout, but never in STATUS, where kubelet
 * would take the node out of service.
 */
export function apiCheck(follows: readonly FollowFacts[], nowMs: number): Check {
  const absent = follows.filter(({ isAbsent }) => isAbsent).map(({ resource }) => resource);
  const failing = follows
    .filter(({ isAbsent }) => !isAbsent)
    .flatMap((follow) => (follow.failingSinceMs === undefined ? [] : [{ ...follow, sinceMs: follow.failingSinceMs }]))
    .filter(({ sinceMs }) => nowMs - sinceMs >= graceMs)
    .toSorted((left, right) => left.sinceMs - right.sinceMs);
  const [first] = failing;
  if (first === undefined) {
    if (absent.length === 0) return passed("api", "the API server answers");
    return warned(
      "api",
      `the cluster has no ${absent.join(" and no ")}: pods get the primary network only`,
      "apply the CustomResourceDefinition of deploy/",
    );
  }
  const since = new Date(first.sinceMs).toISOString();
  const why = first.lastError === undefined ? "" : `: ${first.lastError}`;
  return first.isUnreachable
    ? failed(
        "api",
        `away since ${since}${why}`,
        "pods whose networks are known still attach; check the API server and the network path to it",
      )
    : failed(
        "api",
        `${first.resource} refused since ${since}${why}`,
        "compare the daemon's ClusterRole with deploy/, and its token with the clock of the node",
      );
}

/** Whether the daemon has a complete list of pods and networks. */
export function viewCheck(follows: readonly FollowFacts[]): Check {
  const missing = follows.filter(({ isSynced, isAbsent }) => !isSynced && !isAbsent).map(({ resource }) => resource);
  if (missing.length > 0)
    return failed(
      "view",
      `no complete list of ${missing.join(" and ")} has been taken yet`,
      "the API server's first answer brings it; see the check api",
    );
  return passed("view", follows.map(counted).join(", "));
}

/** The resource's name is a plural, so one object drops the final s. */
function counted({ resource, objects }: FollowFacts): string {
  return `${objects} ${objects === 1 ? resource.replace(/s$/u, "") : resource}`;
}
