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
  /** The pod of that name that is known and is not the wanted one. */
  readonly other: PodFacts | undefined;
}

/** The watch is nearly always this fast; a read for every pod of a storm would only add to it. */
const watchGraceMs = 250;
/** A copy that is being read for the first time needs longer, but a slow server's whole list is not waited for. */
const firstSyncGraceMs = 500;
/** A server that does not answer is asked again before the lookup's time is up. */
const retry = { firstMs: 500, longestMs: 1_500 };

/** Waits for the watch to tell of the pod, and asks the server itself when that takes longer than it should. */
export async function awaitPod(
  wanted: AwaitedPod,
  { endsMs, signal }: { readonly endsMs: number; readonly signal: AbortSignal },
  ports: LookupNeeds,
): Promise<{ readonly pod: PodFacts; readonly how: string }> {
  const { clock, view } = ports;
  const startedMs = clock.monotonicMs();
  const trial: LiveTrial = { trouble: undefined, isOpen: false };
  using limit = deadline(clock, Math.max(endsMs - startedMs, 0), () => lateError(wanted, ports, trial), signal);
  const over = new AbortController();
  const both = AbortSignal.any([limit.signal, over.signal]);
  const watched = view.waitForPod(wanted, both).then((pod) => ({ pod, by: "the watch told of it" }));
  const trials = view.live === undefined ? [watched] : [watched, readLive(wanted, view.live, { ports, trial }, both)];
  try {
    const { pod, by } = await Promise.race(trials);
    return { pod, how: `${by} after ${Math.round(clock.monotonicMs() - startedMs)} ms` };
  } finally {
    // Whoever lost the race ends here, and what it then says concerns nobody.
    for (const one of trials) one.catch(() => undefined);
    over.abort(new LeveeError("cancelled", "The pod has been found"));
  }
}

/** What came of asking the server itself. */
interface LiveTrial {
  trouble: LeveeError | undefined;
  /** It has been asked and has not answered yet. */
  isOpen: boolean;
}

interface LiveOptions {
  readonly ports: LookupNeeds;
  readonly trial: LiveTrial;
}

/** A read is the server's present state, so what it does not find does not exist. Trouble is waited out with the watch. */
async function readLive(
  wanted: AwaitedPod,
  live: LiveView,
  { ports, trial }: LiveOptions,
  signal: AbortSignal,
): Promise<{ pod: PodFacts; by: string }> {
  const { clock } = ports;
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

/** The time is up. A server that is away is another matter than a pod that is not there. */
function lateError(wanted: AwaitedPod, ports: LookupNeeds, { trouble, isOpen }: LiveTrial): LeveeError {
  const { clock, view, config } = ports;
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
    `Cannot find the pod ${pod}: ${why} within ${config.addLookupMs} ms${placeOf(ports)}`,
  );
}

/** Who it is that does not answer, for how long, and what is seen of that. */
export function awayText(live: LiveView, clock: Clock, trouble?: unknown): string {
  const sinceMs = live.awaySinceMs();
  const seconds = sinceMs === undefined ? 0 : Math.max(1, Math.round((clock.wallMs() - sinceMs) / 1_000));
  const isRefusal = trouble instanceof KubeError && trouble.status !== undefined;
  const silence = seconds === 0 ? "does not answer" : `has not answered for ${seconds} s`;
  const away = isRefusal ? "answers with an error" : silence;
  const reason = trouble === undefined ? "" : `: ${toLeveeError(trouble, "Reading").message}`;
  return `the API server ${live.server} ${away}${reason}`;
}

/** Where was looked: who has put the pod's file elsewhere, or has set no folder at all, sees it here. */
function placeOf({ view, config: { directory } }: LookupNeeds): string {
  if (view.live !== undefined) return ` in the copy of ${view.live.server}`;
  return directory === undefined ? "; no directory is set" : ` in the folder ${directory}`;
}
