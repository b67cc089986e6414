import type { Api } from "../../test/e2e/api.ts";
import type { Cluster } from "../../test/e2e/cluster.ts";
import { pathOf } from "../../test/e2e/manifests.ts";
import { applyNetworks, bridgeNetwork } from "../../test/e2e/networks.ts";
import { podObject, type PodWish } from "../../test/e2e/pods.ts";
import { say } from "../../test/e2e/say.ts";
import { networksAnnotation } from "../../test/e2e/the-levee.ts";
import { pause, until } from "../../test/e2e/until.ts";
import type { Contender } from "./contender.ts";
import { GroupWatch, type GroupUse } from "./group-watch.ts";
import { HostPressureWatch, type PressureSeen } from "./host-pressure.ts";
import { PodTimes } from "./pod-times.ts";

export const criticalCount = 6;
const criticalAfterMs = 2_000;
/** The limits until all pods are deleted, and until their leftovers are gone. */
const deleteMs = 180_000;
const settleMs = 40_000;
/** The daemon's start is not part of the storm. */
const calmMs = 5_000;

export interface StormSize {
  readonly pods: number;
  /** The storm ends here, even if some pods do not run. */
  readonly cutMs: number;
}

/** One contender's storm. Times of pods are sorted and begin at their binding. */
export interface StormOutcome {
  readonly runningMs: readonly number[];
  readonly readyMs: readonly number[];
  readonly criticalRunningMs: readonly number[];
  readonly criticalReadyMs: readonly number[];
  readonly failedSandboxes: number;
  readonly restarts: number;
  readonly use?: GroupUse;
  readonly pressure: PressureSeen;
  readonly story: string;
  /** Undefined if not all pods ran, or not all went in time. */
  readonly deletedMs?: number;
  readonly left?: readonly string[];
}

/** Binds all pods at once, and two seconds later the critical ones of another namespace; then deletes them all. */
export async function runStorm(cluster: Cluster, contender: Contender, size: StormSize): Promise<StormOutcome> {
  const api = cluster.api.keepingConnections();
  await furnish(cluster);
  await pause(calmMs);
  const group = contender.group();
  const watch = group === undefined ? undefined : new GroupWatch(group);
  const pressure = new HostPressureWatch();
  const tend = (): void => {
    watch?.look();
    pressure.look();
    contender.tend();
  };
  const times = await PodTimes.begin(api);
  try {
    const ran = await untilRunning({ api, times, tend }, size);
    const failedSandboxes = countFailedSandboxes(cluster);
    const story = await contender.story();
    const isAll = ran.runningMs.length === size.pods && ran.criticalRunningMs.length === criticalCount;
    const use = watch?.use();
    const { seen } = pressure;
    const deletedMs = isAll ? await deleteAll({ api, times, tend }, size.pods) : undefined;
    return {
      ...ran,
      failedSandboxes,
      restarts: await contender.restarts(),
      ...(use === undefined ? {} : { use }),
      pressure: seen,
      story,
      ...(deletedMs === undefined ? {} : { deletedMs }),
      ...(isAll ? { left: await whatStays(contender) } : {}),
    };
  } finally {
    times.end();
  }
}

type Ran = Pick<StormOutcome, "runningMs" | "readyMs" | "criticalRunningMs" | "criticalReadyMs">;

interface Means {
  readonly api: Api;
  readonly times: PodTimes;
  readonly tend: () => void;
}

async function untilRunning({ api, times, tend }: Means, { pods, cutMs }: StormSize): Promise<Ran> {
  const many = wishes("storm", pods);
  const critical = wishes("edge", criticalCount, "system-node-critical");
  const beganMs = performance.now();
  await create(api, many);
  say(`${pods} pods are bound`);
  while (performance.now() < beganMs + criticalAfterMs) {
    tend();
    await pause(50);
  }
  const criticalBeganMs = performance.now();
  await create(api, critical);
  const all = [...many, ...critical].map(nameOf);
  const isAll = await times.all("readyMs", all, { timeoutMs: beganMs + cutMs - performance.now(), tend });
  const since = (of: "runningMs" | "readyMs", pods: readonly PodWish[], fromMs: number): readonly number[] =>
    times
      .moments(of, pods.map(nameOf))
      .map((ms) => Math.round(ms - fromMs))
      .toSorted((left, right) => left - right);
  const runningMs = since("runningMs", many, beganMs);
  say(isAll ? `all are ready` : `${runningMs.length} of ${pods} are running after ${cutMs / 1000} s`);
  return {
    runningMs,
    readyMs: since("readyMs", many, beganMs),
    criticalRunningMs: since("runningMs", critical, criticalBeganMs),
    criticalReadyMs: since("readyMs", critical, criticalBeganMs),
  };
}

/** How long the deletes took; undefined if not all pods went in time. */
async function deleteAll({ api, times, tend }: Means, count: number): Promise<number | undefined> {
  const pods = [...wishes("storm", count), ...wishes("edge", criticalCount)];
  const beganMs = performance.now();
  await Promise.all(pods.map((pod) => api.delete(pathOf("Pod", pod.namespace ?? "", pod.name))));
  const isAll = await times.all("goneMs", pods.map(nameOf), { timeoutMs: deleteMs, tend });
  say(isAll ? "all are deleted" : "not all are deleted");
  return isAll ? Math.round(Math.max(...times.moments("goneMs", pods.map(nameOf))) - beganMs) : undefined;
}

/** Leftovers that are still there after the limit. */
async function whatStays(contender: Contender): Promise<readonly string[]> {
  const endsMs = performance.now() + settleMs;
  return until(
    "nothing is left",
    async () => {
      const left = await contender.left();
      return left.length === 0 || performance.now() > endsMs ? left : undefined;
    },
    { timeoutMs: settleMs + 20_000, everyMs: 500 },
  );
}

async function furnish(cluster: Cluster): Promise<void> {
  for (const namespace of ["storm", "edge"]) await cluster.addNamespace(namespace);
  await applyNetworks(cluster.api, bridgeNetwork("second", "10.90.0.0/22"));
}

function wishes(namespace: string, count: number, priorityClass?: string): readonly PodWish[] {
  return Array.from({ length: count }, (_, index) => ({
    name: `${namespace}-${String(index + 1).padStart(3, "0")}`,
    namespace,
    isPlain: true,
    annotations: { [networksAnnotation]: "default/second" },
    ...(priorityClass === undefined ? {} : { priorityClass }),
  }));
}

async function create(api: Api, pods: readonly PodWish[]): Promise<void> {
  await Promise.all(pods.map((pod) => api.create(pathOf("Pod", pod.namespace ?? ""), podObject(pod))));
}

function nameOf(pod: PodWish): string {
  return `${pod.namespace ?? ""}/${pod.name}`;
}

/** Reads the kubelet's own log, because it bundles and drops events when there are many. */
function countFailedSandboxes(cluster: Cluster): number {
  return cluster.kubelet.log.split("\n").filter((line) => line.includes('"CreatePodSandbox for pod failed"')).length;
}
