import type { Clock } from "../../base/clock.ts";
import type { MetricsRegistry, Sample } from "./metrics-registry.ts";
import { readPodKills } from "./pod-cgroups.ts";
import { PodOomKills } from "./pod-oom-kills.ts";
import type { PodFacts } from "../../view/pod-facts.ts";

/** A look reads a few hundred small files, so frequent scrapes share one. */
const lookMs = 5_000;
/** The host's cgroups, as the manifests mount them, or as a daemon outside a container sees them. */
const cgroupFolders = ["/host/sys/fs/cgroup", "/sys/fs/cgroup"];

export interface PodMetricsOptions {
  readonly clock: Clock;
  readonly view: { pods(): readonly PodFacts[] | undefined };
  readonly folders?: readonly string[];
}

export function registerPodMetrics(
  metrics: MetricsRegistry,
  { clock, view, folders = cgroupFolders }: PodMetricsOptions,
): void {
  const kills = new PodOomKills();
  let seen: { readonly byUid: ReadonlyMap<string, number>; readonly atMs: number } | undefined;
  metrics.counted(
    "levee_pod_oom_kills_total",
    "Processes that the kernel killed for memory in a pod of this node since the daemon first saw it",
    () => {
      const atMs = clock.monotonicMs();
      if (seen === undefined || atMs - seen.atMs >= lookMs) seen = { byUid: kills.look(allKills(folders)), atMs };
      return samples(seen.byUid, view.pods() ?? []);
    },
  );
}

function allKills(folders: readonly string[]): ReturnType<typeof readPodKills> {
  for (const folder of folders) {
    const found = readPodKills(folder);
    if (found.size > 0) return found;
  }
  return new Map();
}

/** Static pods are left out: the kubelet names their cgroup by another UID than the API server does. */
function samples(byUid: ReadonlyMap<string, number>, pods: readonly PodFacts[]): readonly Sample[] {
  return pods.flatMap(({ namespace, name, uid }) => {
    const value = byUid.get(uid);
    return value === undefined ? [] : [{ labels: { namespace, pod: name }, value }];
  });
}
