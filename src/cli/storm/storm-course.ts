import { interruptedFailure } from "../failure.ts";
import { withProgress } from "../terminal/progress.ts";
import { Fleet } from "./fleet.ts";
import { findTraces, leakTexts, type Traces } from "./traces.ts";
import { Series } from "./series.ts";
import { site } from "./site.ts";
import type { Stage } from "./stage.ts";
import { stormBar } from "./storm-bar.ts";
import { judgeStorm, type StormRun } from "./verdict.ts";

/** kubelet would retry deletes for ever. Here they end after the time for attaching, but not before this time. */
const deleteTimeoutMinMs = 120_000;

/** The storm itself: pods are attached, counted and deleted. */
export async function runCourse(stage: Stage): Promise<StormRun> {
  const { context, plan, netns, networks, group, daemon, caller } = stage;
  const { clock } = context.shell;
  const fleet = new Fleet({
    clock,
    caller,
    netns,
    seed: plan.seed,
    containerIdPrefix: site.containerIdPrefix,
  });
  const series = new Series({ clock, fleet, group, daemon, running: caller.running });
  const bar = stormBar(context.shell, plan);
  try {
    using _looking = series.start((moment) => bar.show(moment));
    await arrivals(stage, fleet);
  } finally {
    bar.end();
  }
  const attachedTraces = await findTraces(context, networks, netns);
  const startedMs = clock.monotonicMs();
  await withProgress(context.shell, "Deleting all pods", () => deleteAll(stage, fleet));
  const deleteMs = clock.monotonicMs() - startedMs;
  const deletedTraces = await withProgress(context.shell, "Waiting for postponed deletes", () => tidyTraces(stage));
  return judgeStorm({
    plan,
    records: fleet.records,
    moments: series.moments,
    shims: series.shims,
    peakBytes: group.sample().peakBytes,
    oomKills: group.sample().oomKills,
    restarts: daemon.restarts,
    ends: daemon.ends,
    attachedTraces,
    deletedTraces,
    deleteMs,
    tidyMs: clock.monotonicMs() - startedMs,
    notDeleted: fleet.openSandboxes,
  });
}

/** Starts the burst, and the second namespace a little later. Ends when all are attached or the time is over. */
async function arrivals(stage: Stage, fleet: Fleet): Promise<void> {
  const { context, plan, pods, caller } = stage;
  const { clock, interrupted } = context.shell;
  const end = new AbortController();
  const cancel = clock.after(plan.timeoutMs, () => {
    end.abort();
    caller.hurry();
  });
  using _interrupt = onInterrupt(stage, () => end.abort());
  const secondAfterMs = pods.second.length === 0 ? 0 : plan.second.afterMs;
  const second = clock.sleep(secondAfterMs, end.signal).then(
    () => fleet.arrive(pods.second, end.signal),
    () => undefined, // The storm ended before they started.
  );
  await Promise.all([fleet.arrive(pods.burst, end.signal), second]);
  cancel();
  if (interrupted.aborted) throw await interruption(stage, fleet);
}

async function deleteAll(stage: Stage, fleet: Fleet): Promise<void> {
  const { clock, interrupted } = stage.context.shell;
  const end = new AbortController();
  const cancel = clock.after(Math.max(deleteTimeoutMinMs, stage.plan.timeoutMs), () => end.abort());
  using _interrupt = onInterrupt(stage, () => end.abort());
  await fleet.deleteAll(end.signal);
  cancel();
  if (interrupted.aborted) throw await interruption(stage, fleet);
}

const tidyPollMs = 500;

/** The daemon answers a DEL that waited too long and carries it out later, so leftovers count only after a wait. */
async function tidyTraces({ context, plan, networks, netns }: Stage): Promise<Traces> {
  const { clock, interrupted } = context.shell;
  const endMs = clock.monotonicMs() + Math.max(deleteTimeoutMinMs, plan.timeoutMs);
  for (;;) {
    const traces = await findTraces(context, networks, netns);
    if (leakTexts(traces).length === 0 || clock.monotonicMs() > endMs) return traces;
    await clock.sleep(tidyPollMs, interrupted).catch(() => {
      throw interruptedFailure("deleting pods");
    });
  }
}

/** Our own networks go with their folders and namespaces and need no undo. The site's own networks need DELs. */
function onInterrupt({ context, plan, caller }: Stage, told: () => void): Disposable {
  const { interrupted } = context.shell;
  const stop = (): void => {
    told();
    if (plan.delegates.length === 0) caller.stop();
    else caller.hurry();
  };
  if (interrupted.aborted) stop();
  interrupted.addEventListener("abort", stop, { once: true });
  return { [Symbol.dispose]: () => interrupted.removeEventListener("abort", stop) };
}

const giveBackMs = 30_000;

async function interruption({ context, plan }: Stage, fleet: Fleet): Promise<Error> {
  const { clock } = context.shell;
  if (plan.delegates.length > 0) {
    const end = new AbortController();
    const cancel = clock.after(giveBackMs, () => end.abort());
    await withProgress(context.shell, "Detaching pods from the site's networks", () => fleet.deleteAll(end.signal));
    cancel();
  }
  return interruptedFailure("running the storm");
}
