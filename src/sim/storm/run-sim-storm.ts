import { useDisk } from "../../base/disk/disk.ts";
import { EventLog } from "../story/event-log.ts";
import { beginFault } from "../story/play-faults.ts";
import { SimWorld } from "../story/sim-world.ts";
import { defaultNetwork } from "../story/story.ts";
import { judgeSimStorm } from "./judge-sim-storm.ts";
import { faultEndMs } from "./pod-wait.ts";
import type { SimMoment, SimStormEnd } from "./sim-storm-end.ts";
import type { SimStormPlan, SimStormPod } from "./sim-storm-plan.ts";
import { StormWatch } from "./storm-watch.ts";

interface StormViewer {
  /** Gets every moment of the storm. */
  readonly onMoment?: (moment: SimMoment) => void;
  /** Asked after everything that happens: whether to end now with what is known. */
  readonly isInterrupted?: () => boolean;
}

/** The daemons are ready before the first pod comes. */
const quietMs = 3_000;
/** The pods are known to the API server a little before the kubelet begins. */
const seeMsMax = 40;
/** After the last pod is deleted, for what is done later: Levee's leak ledger pauses for up to an hour. */
const tidyMs = { levee: 3_700_000, multus: 180_000 } as const;
/** A look costs little, and a plot shows no more. */
const momentsMax = 2_000;
const lookMsMin = 100;

/** Plays one storm on simulated nodes. The same plan gives the same end, byte for byte. */
export async function runSimStorm(plan: SimStormPlan, viewer: StormViewer = {}): Promise<SimStormEnd> {
  const log = new EventLog();
  const seen: { watch?: StormWatch } = {};
  const world = new SimWorld({
    seed: plan.seed,
    nodes: plan.nodes,
    networks: plan.networks,
    defaultNetwork,
    settings: {},
    hardware: hardwareOf(plan),
    onEvent: (nowMs, event) => {
      log.add(nowMs, event);
      seen.watch?.see(event);
    },
  });
  const watch = new StormWatch(plan, world, quietMs);
  seen.watch = watch;
  using _disk = { [Symbol.dispose]: useDisk(world.disk) };
  for (const { node } of world.nodes.values()) node.files.trouble.syncMsMax = plan.model.syncMsMax;
  world.start();
  const isInterrupted = viewer.isInterrupted ?? (() => false);
  await world.time.run(quietMs, isInterrupted);
  schedule(world, plan, watch);
  watch.begin(Math.max(lookMsMin, latestMs(plan) / momentsMax), viewer.onMoment);
  await world.time.run(quietMs + latestMs(plan), () => isInterrupted() || watch.isDone);
  watch.end();
  const atEnd = watch.facts(isInterrupted());
  if (!isInterrupted()) await takeDown(world, plan, isInterrupted);
  const { steps, nowMs } = world.time;
  // Costs are of the storm; leaks show only after it.
  const leaks = new Map(watch.facts(isInterrupted()).nodes.map((node) => [node.name, node.leaks]));
  const nodes = atEnd.nodes.map((node) => ({ ...node, leaks: leaks.get(node.name) ?? 0 }));
  return judgeSimStorm({
    ...atEnd,
    nodes,
    isInterrupted: isInterrupted(),
    plan,
    steps,
    simulatedMs: nowMs - quietMs,
    hash: log.hash,
  });
}

function hardwareOf({ impl, connectionLimit, limits, model, restartMs }: SimStormPlan) {
  const multus = impl === "levee" ? undefined : { connectionLimit };
  return { model, limits, multus, seeMsMax, restartMs };
}

/** When the last pod's time is over. */
function latestMs({ pods, faults, timeoutMs }: SimStormPlan): number {
  const ends = faults.map(({ fault }) => faultEndMs(fault));
  const comes = pods.map(({ atMs, deleteAtMs }) => deleteAtMs ?? atMs);
  return [...ends, ...comes].reduce((left, right) => Math.max(left, right), 0) + timeoutMs;
}

function schedule(world: SimWorld, { pods, faults }: SimStormPlan, watch: StormWatch): void {
  pods.forEach((pod, number) => {
    const runtime = world.nodes.get(pod.node)?.runtime;
    world.time.after(pod.atMs, () => runtime?.bind({ ...pod, uid: uidOf(number) }));
    if (pod.deleteAtMs !== undefined) world.time.after(pod.deleteAtMs, () => runtime?.remove(keyOf(pod)));
  });
  for (const { node, fault } of faults)
    world.time.after(fault.atMs, () => {
      beginFault(world, node, fault);
      if (fault.kind === "cut-power") watch.lost(node);
    });
}

/** Deletes all pods, as only then a leak shows. */
async function takeDown(world: SimWorld, { pods, impl }: SimStormPlan, isInterrupted: () => boolean): Promise<void> {
  for (const pod of pods) world.nodes.get(pod.node)?.runtime.remove(keyOf(pod));
  const { nowMs } = world.time;
  const isTidy = (): boolean =>
    [...world.nodes.values()].every(
      ({ node, runtime }) =>
        runtime.unfinished.length === 0 && [...node.kernel.leases.values()].every(({ size }) => size === 0),
    );
  const longestMs = impl === "levee" ? tidyMs.levee : tidyMs.multus;
  for (let waitedMs = 500; waitedMs <= longestMs && !isTidy() && !isInterrupted(); waitedMs += 500)
    await world.time.run(nowMs + waitedMs, isInterrupted);
}

function keyOf({ namespace, name }: SimStormPod): string {
  return `${namespace}/${name}`;
}

function uidOf(number: number): string {
  return `00000000-0000-4000-9000-${String(number).padStart(12, "0")}`;
}
