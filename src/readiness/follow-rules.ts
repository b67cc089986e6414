import { failed, passed, warned, type Check } from "./check.ts";

/** How well the local copy of one resource follows the API server. */
export interface FollowFacts {
  readonly resource: string;
  readonly objects: number;
  /** A complete list has been taken. */
  readonly isSynced: boolean;
  /** Why list or watch fails now; undefined while it works. */
  readonly lastError: string | undefined;
  /** On the wall clock; undefined while it works. */
  readonly failingSinceMs: number | undefined;
  /** No answer comes at all, as opposed to a refusal. */
  readonly isUnreachable: boolean;
  /** The server knows no such resource. */
  readonly isAbsent: boolean;
}

/** A watch that is opened again takes a moment; a probe between the two is no news. */
const graceMs = 5_000;

/**
 * Whether the API server is there. Said in /readyz, so that a rollout stops; never in STATUS, where kubelet would take
 * the node out of service for it.
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
        "pods whose networks are known are still attached; look at the API server and the way to it",
      )
    : failed(
        "api",
        `${first.resource} refused since ${since}${why}`,
        "compare the daemon's ClusterRole with deploy/, and its token with the clock of the node",
      );
}

/** Whether pods and networks are known at all. */
export function viewCheck(follows: readonly FollowFacts[]): Check {
  const missing = follows.filter(({ isSynced, isAbsent }) => !isSynced && !isAbsent).map(({ resource }) => resource);
  if (missing.length > 0)
    return failed(
      "view",
      `no complete list of ${missing.join(" and ")} has been taken yet`,
      "it comes with the API server's first answer; see the check api",
    );
  return passed("view", follows.map(counted).join(", "));
}

/** Names of resources are plurals. */
function counted({ resource, objects }: FollowFacts): string {
  return `${objects} ${objects === 1 ? resource.replace(/s$/u, "") : resource}`;
}
