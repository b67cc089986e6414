import { systemClock } from "../../src/base/clock.ts";
import type { Caller } from "../../src/cli/storm/caller/caller.ts";
import { Fleet, netnsNameOf, type PodProgress } from "../../src/cli/storm/fleet.ts";
import { pause } from "../../test/e2e/until.ts";
import type { RunningNode } from "../contenders/contender.ts";
import type { Ground } from "../ground/ground.ts";
import { idleMachine } from "../ground/idle-machine.ts";
import type { PodWish } from "../ground/node-source.ts";
import { Meter, type GroupPeaks } from "./meter.ts";

/** When the critical pods arrive. */
export const vitalAfterMs = 2_000;
/** All contenders have the same waits between tries. */
const seed = 219;

export interface StormPlan {
  readonly pods: readonly PodWish[];
  /** Pods that arrive in the middle of the storm. */
  readonly late: readonly PodWish[];
  readonly lateAfterMs?: number;
  /** The limit for the storm. */
  readonly cutMs: number;
  /** Called when the first pod arrives, because creating the pods takes a while. */
  readonly onBegin?: () => void;
}

export interface StormOutcome {
  readonly fleet: Fleet;
  /** Resolves when the last running call has ended. */
  readonly settled: Promise<unknown>;
  readonly records: readonly PodProgress[];
  readonly late: readonly PodProgress[];
  /** When the last pod was attached; undefined if not all were. */
  readonly tookMs: number | undefined;
  readonly endedMs: number;
  /** Memory of all shims and their children, above that at the start. */
  readonly runtimeMib: number;
  /** CPU of all shims and their children, and of the callers in this process. */
  readonly runtimeCpuMs: number;
}

/** Starts all pods at once, others in the middle, and waits until each is attached or the limit is reached. */
export async function storm(ground: Ground, caller: Caller, plan: StormPlan): Promise<StormOutcome> {
  const [pods, late] = [await ground.source.addPods(plan.pods), await ground.source.addPods(plan.late)];
  await ground.netns.add([...pods, ...late].map(netnsNameOf));
  if (!(await idleMachine()))
    process.stderr.write("The machine does not become idle, so other work affects these figures\n");
  const meter = new Meter(ground.runtimeGroup);
  const fleet = new Fleet({ clock: systemClock, caller, netns: ground.netns, seed });
  const end = new AbortController();
  const cut = setTimeout(() => end.abort(new Error("the storm is cut off")), plan.cutMs);
  const arriveLate = async (): Promise<void> => {
    await pause(plan.lateAfterMs ?? vitalAfterMs);
    await fleet.arrive(late, end.signal);
  };
  plan.onBegin?.();
  const all = Promise.all([fleet.arrive(pods, end.signal), ...(late.length === 0 ? [] : [arriveLate()])]);
  // Hung calls end by themselves or with the daemon.
  await Promise.race([all, aborted(end.signal)]);
  clearTimeout(cut);
  end.abort(new Error("the storm is over"));
  const { cpuMs: runtimeCpuMs } = meter.stop();
  const records = fleet.records.filter(({ pod }) => pods.includes(pod));
  return {
    fleet,
    settled: all,
    records,
    late: fleet.records.filter(({ pod }) => late.includes(pod)),
    tookMs: lastAttachedMs(records),
    endedMs: fleet.nowMs(),
    runtimeMib: meter.grownMib,
    runtimeCpuMs,
  };
}

/** A storm on a node, with the use of its daemon. */
export async function stormOn(
  ground: Ground,
  node: RunningNode,
  plan: StormPlan,
): Promise<StormOutcome & { readonly peaks: GroupPeaks }> {
  const meter = new Meter(node.group);
  const outcome = await storm(ground, node.caller, plan);
  return { ...outcome, peaks: meter.stop() };
}

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => signal.addEventListener("abort", () => resolve()));
}

function lastAttachedMs(records: readonly PodProgress[]): number | undefined {
  const times = records.map((record) => record.attachedMs ?? Number.POSITIVE_INFINITY);
  const last = Math.max(...times);
  return Number.isFinite(last) ? last : undefined;
}

export function attachedCount(records: readonly PodProgress[]): number {
  return records.filter((record) => record.attachedMs !== undefined).length;
}

/** How long each pod waited, longest first; undefined for a pod that was never attached. */
export function waits(records: readonly PodProgress[]): readonly (number | undefined)[] {
  return records
    .map(({ arrivedMs, attachedMs }) => (attachedMs === undefined ? undefined : attachedMs - arrivedMs))
    .toSorted((left, right) => (right ?? Infinity) - (left ?? Infinity));
}

/** When each pod was attached, in order. */
export function attachTimes({ records }: Pick<StormOutcome, "records">): readonly number[] {
  return records
    .flatMap(({ attachedMs }) => (attachedMs === undefined ? [] : [Math.round(attachedMs)]))
    .toSorted((a, b) => a - b);
}

export function firstError(outcome: StormOutcome): string {
  return outcome.records.flatMap(({ errors }) => errors.map(({ message }) => message))[0] ?? "no error";
}
