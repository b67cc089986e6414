import type { MachineModel } from "../machine/machine-model.ts";
import { mibBytes, type ContainerLimits } from "../machine/sim-machine.ts";
import { burstPlan } from "./burst-plan.ts";
import { runSimStorm } from "./run-sim-storm.ts";

/** What a real storm of Levee on one node showed. */
export interface MeasuredStorm {
  readonly pods: number;
  readonly limits: ContainerLimits;
  readonly tookMs: number;
  /** While the pods were attached. */
  readonly daemonCpuMs: number;
  readonly anonPeakBytes: number;
}

/** Each round comes closer; after these the rest is noise of the machine. */
const rounds = 4;
/** One round does not change a constant by more than this factor. */
const stepMax = 3;
/** Fits are held to what a plugin can need. */
const pluginCpuBounds = { min: 0.1, max: 5_000 } as const;
const perPodUsMax = 5_000;

/** Asked after everything that happens in a simulated storm. */
type IsInterrupted = () => boolean;
const never: IsInterrupted = () => false;

/**
 * Fits the constants of Levee to real storms, by simulating the same storms: CPU and memory of the daemon, and what the
 * plugins need. The smallest storm says what a plugin costs, the next how much more it costs beside many others. A third,
 * which takes longer than a second, says what the kernel adds then. Undefined when it was interrupted: a model that is half
 * fitted says nothing.
 */
export async function fitModel(
  from: MachineModel,
  storms: readonly MeasuredStorm[],
  isInterrupted: IsInterrupted = never,
): Promise<MachineModel | undefined> {
  const [small, ...larger] = storms.toSorted((one, other) => one.pods - other.pods);
  if (small === undefined) return from;
  const [middle] = larger;
  const large = larger.at(-1);
  let model: MachineModel = { ...from, daemon: { ...from.daemon, ...memoryOf(from, small, large ?? small) } };
  for (let round = 0; round < rounds; round += 1) {
    model = fitPlugins(model, small, await simulated(model, small, isInterrupted));
    if (middle !== undefined) model = fitBeside(model, middle, await simulated(model, middle, isInterrupted));
    if (large !== undefined) {
      const seen = await simulated(model, large, isInterrupted);
      if (large !== middle) model = fitFlood(model, large, seen);
      model = fitCollector(model, large, seen);
    }
    if (isInterrupted()) return undefined;
  }
  return rounded(model);
}

/** How far a model is from a storm: what it says of it. */
export async function simulated(
  model: MachineModel,
  storm: Pick<MeasuredStorm, "pods" | "limits">,
  isInterrupted: IsInterrupted = never,
): Promise<MeasuredStorm> {
  const { pods, limits } = storm;
  const end = await runSimStorm(burstPlan({ model, pods, limits }), { isInterrupted });
  const [node] = end.nodes;
  return {
    pods,
    limits,
    tookMs: node?.tookMs ?? Number.POSITIVE_INFINITY,
    daemonCpuMs: node?.daemonCpuMs ?? 0,
    anonPeakBytes: node?.anonPeakBytes ?? 0,
  };
}

function memoryOf({ daemon }: MachineModel, small: MeasuredStorm, large: MeasuredStorm) {
  const grownKib = (large.anonPeakBytes - small.anonPeakBytes) / 1_024;
  const callKib = large.pods === small.pods ? daemon.callKib : Math.max(1, grownKib / (large.pods - small.pods));
  return { callKib, baseMib: Math.max(1, (small.anonPeakBytes - small.pods * callKib * 1_024) / mibBytes) };
}

/** The time of a storm is nearly in proportion to what its plugins need. */
function fitPlugins(model: MachineModel, storm: MeasuredStorm, seen: MeasuredStorm): MachineModel {
  const { daemon } = model;
  const messageCpuMs = daemon.messageCpuMs * step(storm.daemonCpuMs / seen.daemonCpuMs);
  const { min, max } = pluginCpuBounds;
  const wanted = model.pluginCpuMs * step(storm.tookMs / seen.tookMs);
  return { ...model, pluginCpuMs: Math.min(max, Math.max(min, wanted)), daemon: { ...daemon, messageCpuMs } };
}

/** What is missing beside many others is spread over the pods that were there already. */
function fitBeside(model: MachineModel, storm: MeasuredStorm, seen: MeasuredStorm): MachineModel {
  return { ...model, pluginCpuPerPodUs: slope(model.pluginCpuPerPodUs, missingUs(model, storm, seen), storm) };
}

function fitFlood(model: MachineModel, storm: MeasuredStorm, seen: MeasuredStorm): MachineModel {
  return { ...model, floodCpuPerPodUs: slope(model.floodCpuPerPodUs, missingUs(model, storm, seen), storm) };
}

/** What the daemon's other threads need grows with what is kept. */
function fitCollector(model: MachineModel, storm: MeasuredStorm, seen: MeasuredStorm): MachineModel {
  const { daemon } = model;
  // Of each of some seven messages of a pod.
  const ofMessageUs = (1_000 * (storm.daemonCpuMs - seen.daemonCpuMs)) / (7 * storm.pods);
  return { ...model, daemon: { ...daemon, collectCpuPerPodUs: slope(daemon.collectCpuPerPodUs, ofMessageUs, storm) } };
}

/** CPU that is missing for each run of plugins, two for each pod. */
function missingUs({ cores }: MachineModel, storm: MeasuredStorm, seen: MeasuredStorm): number {
  return (1_000 * (storm.tookMs - seen.tookMs) * cores) / (2 * storm.pods);
}

/** What each pod that is there adds, when so much is missing beside half of them on average. */
function slope(perPodUs: number, ofOneUs: number, { pods }: MeasuredStorm): number {
  return Math.min(perPodUsMax, Math.max(0, perPodUs + (2 * ofOneUs) / pods));
}

function step(factor: number): number {
  return Number.isFinite(factor) ? Math.min(stepMax, Math.max(1 / stepMax, factor)) : 1;
}

/** The constants that are fitted, by their names in a model file. */
export const fittedConstants = [
  "pluginCpuMs",
  "pluginCpuPerPodUs",
  "floodCpuPerPodUs",
  "daemon.messageCpuMs",
  "daemon.collectCpuPerPodUs",
  "daemon.baseMib",
  "daemon.callKib",
] as const;

/** `pluginCpuMs 4.1, …` */
export function fittedText({ daemon, ...model }: MachineModel): string {
  const named: Readonly<Record<string, unknown>> = {
    ...model,
    ...Object.fromEntries(Object.entries(daemon).map(([key, value]) => [`daemon.${key}`, value])),
  };
  return fittedConstants.map((name) => `${name} ${String(named[name])}`).join(", ");
}

/** No measurement has more than four digits that mean anything. */
function rounded(model: MachineModel): MachineModel {
  const read = (value: unknown): unknown => {
    if (typeof value === "number") return Number(value.toPrecision(4));
    return Object.fromEntries(Object.entries(value as object).map(([key, inner]) => [key, read(inner)]));
  };
  return read(model) as MachineModel;
}
