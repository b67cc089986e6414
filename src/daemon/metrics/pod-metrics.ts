import type { Clock } from "../../base/clock.ts";
import type { MetricsRegistry, Sample } from "./metrics-registry.ts";
import { readPodKills } from "./pod-cgroups.ts";
import { PodOomKills } from "./pod-oom-kills.ts";
import type { PodFacts } from "../../view/pod-facts.ts";

/** A few hundred small files: not more often than anybody needs it, whoever asks. */
const lookMs = 5_000;
/** The host's cgroups, as the manifests mount them, or as a daemon outside of a container sees them. */
const cgroupFolders = ["/host/sys/fs/cgroup", "/sys/fs/cgroup"];

export interface PodMetricsOptions {
  readonly clock: Clock;
  readonly view: { pods(): readonly PodFacts[] | undefined };
  readonly folders?: readonly string[];
}

/** Kills for want of memory in the pods of this node, read when somebody asks. */
export function registerPodMetrics(
  metrics: MetricsRegistry,
  { clock, view, folders = cgroupFolders }: PodMetricsOptions,
): void {
  const kills = new PodOomKills();
  let seen: { readonly byUid: ReadonlyMap<string, number>; readonly atMs: number } | undefined;
  metrics.counted(
    "levee_pod_oom_kills_total",
    "Processes killed for memory in a pod of this node since the daemon first saw it",
    () => {
      const atMs = clock.monotonicMs();
      if (seen === undefined || atMs - seen.atMs >= lookMs) seen = { byUid: kills.look(allKills(folders)), atMs };
      return samples(seen.byUid, view.pods() ?? []);
    },
  );
}

/** The first folder in which the kubelet's pods are. */
function allKills(folders: readonly string[]): ReturnType<typeof readPodKills> {
  for (const folder of folders) {
    const found = readPodKills(folder);
    if (found.size > 0) return found;
  }
  return new Map();
}

/** Static pods are left out: the kubelet calls their cgroup by another UID than the API has. */
function samples(byUid: ReadonlyMap<string, number>, pods: readonly PodFacts[]): readonly Sample[] {
  return pods.flatMap(({ namespace, name, uid }) => {
    const value = byUid.get(uid);
    return value === undefined ? [] : [{ labels: { namespace, pod: name }, value }];
  });
}
