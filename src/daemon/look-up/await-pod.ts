import type { PodUid } from "../../base/brand.ts";
import { deadline, type Clock } from "../../base/clock.ts";
import { LeveeError, toLeveeError } from "../../base/errors.ts";
import { KubeError } from "../../kube/client/api.ts";
import { backOffMs } from "../../kube/back-off.ts";
import type { DaemonConfig } from "../../config/daemon-config.ts";
import type { LiveView, View, WantedPod } from "../../view/view.ts";
import type { PodFacts } from "../../view/pod-facts.ts";

export interface LookupNeeds {
  readonly view: View;
  readonly clock: Clock;
  readonly config: Pick<DaemonConfig, "addLookupMs" | "directory">;
}

export interface AwaitedPod extends WantedPod {
  readonly uid: PodUid | undefined;
  /** Another pod with the wanted name, in the view. */
  readonly other: PodFacts | undefined;
}

/** The watch is nearly always this fast. In a storm, a read for every pod would only add load. */
const watchGraceMs = 250;
/** The first list needs longer, but a slow server's whole list is not waited for. */
const firstSyncGraceMs = 500;
/** A silent server is asked again before the look-up's time is up. */
const retry = { firstMs: 500, longestMs: 1_500 };

/** Waits for the watch to bring the pod, and reads it from the server when the watch is slow. */
export async function awaitPod(
  wanted: AwaitedPod,
  { endsMs, signal }: { readonly endsMs: number; readonly signal: AbortSignal },
  needs: LookupNeeds,
): Promise<{ readonly pod: PodFacts; readonly how: string }> {
  const { clock, view } = needs;
  const startedMs = clock.monotonicMs();
  const trial: LiveTrial = { trouble: undefined, isOpen: false };
  using limit = deadline(clock, Math.max(endsMs - startedMs, 0), () => lateError(wanted, needs, trial), signal);
  const over = new AbortController();
  const both = AbortSignal.any([limit.signal, over.signal]);
  const watched = view.waitForPod(wanted, both).then((pod) => ({ pod, by: "the watch brought it" }));
  const trials = view.live === undefined ? [watched] : [watched, readLive(wanted, view.live, { needs, trial }, both)];
  try {
    const { pod, by } = await Promise.race(trials);
    return { pod, how: `${by} after ${Math.round(clock.monotonicMs() - startedMs)} ms` };
  } finally {
    // The loser of the race ends here, and its error is of no use.
    for (const one of trials) one.catch(() => undefined);
    over.abort(new LeveeError("cancelled", "The pod has been found"));
  }
}

/** The state of the read from the server. */
interface LiveTrial {
  trouble: LeveeError | undefined;
  /** A request is out and has no answer yet. */
  isOpen: boolean;
}

interface LiveOptions {
  readonly needs: LookupNeeds;
  readonly trial: LiveTrial;
}

/** A read shows the server's present state, so a pod it does not find does not exist. After an error it is tried again. */
async function readLive(
  wanted: AwaitedPod,
  live: LiveView,
  { needs, trial }: LiveOptions,
  signal: AbortSignal,
): Promise<{ pod: PodFacts; by: string }> {
  const { clock } = needs;
  await clock.sleep(live.isSynced() ? watchGraceMs : firstSyncGraceMs, signal);
  for (let failures = 1; ; failures += 1) {
    try {
      trial.isOpen = true;
      const pod = await live.readPod(wanted.namespace, wanted.name, signal);
      if (pod !== undefined && wanted.isWanted(pod)) return { pod, by: "the API server was asked for it" };
      throw absentError(wanted, live, pod);
    } catch (thrown) {
      if (signal.aborted || !(thrown instanceof KubeError)) throw thrown;
      trial.trouble = thrown;
      trial.isOpen = false;
      await clock.sleep(backOffMs(clock, failures, { ...retry, afterMs: thrown.retryAfterMs }) + 100, signal);
    }
  }
}

function absentError(wanted: AwaitedPod, live: LiveView, pod: PodFacts | undefined): LeveeError {
  const why =
    pod === undefined
      ? `it is neither in the local copy nor on the API server ${live.server}, and no annotations came with the call`
      : `expected pod UID "${wanted.uid ?? ""}" but got "${pod.uid}" from Kube API at ${live.server}`;
  return new LeveeError("pod-unknown", `Cannot find the pod ${wanted.namespace}/${wanted.name}: ${why}`);
}

/** The error when the time is up. A silent server is "try later"; a missing pod is not. */
function lateError(wanted: AwaitedPod, needs: LookupNeeds, { trouble, isOpen }: LiveTrial): LeveeError {
  const { clock, view, config } = needs;
  const pod = `${wanted.namespace}/${wanted.name}`;
  const isAway = isOpen || trouble !== undefined || view.live?.awaySinceMs() !== undefined;
  if (view.live !== undefined && isAway) {
    return new LeveeError(
      "try-later",
      `Cannot find the pod ${pod} now: it is not in the local copy, no annotations came with the call, and ${awayText(view.live, clock, trouble)}`,
      trouble === undefined ? {} : { cause: trouble },
    );
  }
  const why =
    wanted.other === undefined
      ? "it did not appear"
      : `expected pod UID "${wanted.uid ?? ""}" but got "${wanted.other.uid}", and no other came`;
  return new LeveeError(
    "pod-unknown",
    `Cannot find the pod ${pod}: ${why} within ${config.addLookupMs} ms${placeOf(needs)}`,
  );
}

/** Which server does not answer, for how long, and the last error. */
export function awayText(live: LiveView, clock: Clock, trouble?: unknown): string {
  const sinceMs = live.awaySinceMs();
  const seconds = sinceMs === undefined ? 0 : Math.max(1, Math.round((clock.wallMs() - sinceMs) / 1_000));
  const isRefusal = trouble instanceof KubeError && trouble.status !== undefined;
  const silence = seconds === 0 ? "does not answer" : `has not answered for ${seconds} s`;
  const away = isRefusal ? "answers with an error" : silence;
  const reason = trouble === undefined ? "" : `: ${toLeveeError(trouble, "Reading").message}`;
  return `the API server ${live.server} ${away}${reason}`;
}

/** Where the daemon looked. It shows a person that the pod's file is elsewhere, or that no folder is set. */
function placeOf({ view, config: { directory } }: LookupNeeds): string {
  if (view.live !== undefined) return ` in the copy of ${view.live.server}`;
  return directory === undefined ? "; no directory is set" : ` in the folder ${directory}`;
}
