import type { NetworkSource } from "../../attachment/plan.ts";
import { deadline, type Clock } from "../../base/clock.ts";
import { LeveeError } from "../../base/errors.ts";
import { KubeError } from "../../kube/client/api.ts";
import type { PodClaims } from "../../view/pod-claims.ts";
import type { PodFacts } from "../../view/pod-facts.ts";
import type { LiveView } from "../../view/view.ts";
import { awayText } from "./await-pod.ts";
import { claimedDevices, type ClaimedDevice } from "./claimed-devices.ts";
import { hasUid } from "./find-pod.ts";

/** Between two tries. A server that restarts is back in seconds. */
const pauseMs = 250;

interface ClaimSources {
  readonly clock: Clock;
  readonly limitMs: number;
  readonly signal: AbortSignal;
  readonly live: LiveView;
  readonly note: (detail: string) => void;
}

/**
 * The devices of a pod's claims. Only the API server has them, so a server that is away is waited for within the look-up's
 * time; without its answer no network gets a device, because it could be the wrong one.
 */
export async function devicesOfClaims(
  pod: PodFacts,
  sources: readonly NetworkSource[],
  { clock, limitMs, signal, live, note }: ClaimSources,
): Promise<readonly ClaimedDevice[]> {
  const { namespace, name } = pod;
  const named = new Set(sources.flatMap(({ deviceRequest = "" }) => deviceRequest.split("/", 1)));
  /** Why the last try failed. */
  let trouble: unknown;
  const late = (): LeveeError => unknown(`${namespace}/${name}`, awayText(live, clock, trouble), trouble);
  using limit = deadline(clock, limitMs, late, signal);
  for (;;) {
    // Those of a try that failed would be told twice.
    const notes: string[] = [];
    try {
      const claims = pod.isFromCall === true ? await readClaims(pod, live, limit.signal) : pod.claims;
      if (claims === undefined) return [];
      const question = { namespace, claims, named, view: live.claims, signal: limit.signal };
      const devices = await claimedDevices({ ...question, note: (detail) => notes.push(detail) });
      for (const detail of notes) note(detail);
      return devices;
    } catch (thrown) {
      signal.throwIfAborted();
      limit.signal.throwIfAborted();
      if (!(thrown instanceof KubeError)) throw thrown;
      trouble = thrown;
      if (!isPassing(thrown)) throw late();
      await clock.sleep(pauseMs, limit.signal).catch(() => undefined);
    }
  }
}

/** The pod came with the call, without its status. */
async function readClaims(pod: PodFacts, live: LiveView, signal: AbortSignal): Promise<PodClaims | undefined> {
  const { namespace, name, uid } = pod;
  const read = await live.readPod(namespace, name, signal);
  if (read !== undefined && hasUid(read, uid)) return read.claims;
  // A static pod may be known to the API server later, and cannot have claims.
  if (pod.isStatic) return undefined;
  throw unknown(`${namespace}/${name}`, "the API server has no such pod", undefined);
}

/** Whether another try may help. */
function isPassing({ status }: KubeError): boolean {
  return status === undefined || status === 429 || status >= 500;
}

function unknown(pod: string, why: string, cause: unknown): LeveeError {
  const isForbidden = cause instanceof KubeError && cause.status === 403;
  const remedy = isForbidden ? "; apply the ClusterRole of this release, which lets the daemon read claims" : "";
  return new LeveeError("try-later", `Cannot find the devices of the claims of ${pod}: ${why}${remedy}`, { cause });
}
