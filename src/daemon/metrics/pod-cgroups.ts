import { readdirSync, readFileSync } from "node:fs";
import { basename, join } from "node:path";

/** OOM kills in each cgroup of a pod, by the cgroup's name; "" is the pod's own. */
export type KillCounts = ReadonlyMap<string, number>;

/** The kubelet's top folder, as systemd or the kubelet names it; systemd puts a configured root before the name. */
const kubeletFolder = /^(?:kubepods|(?:.+-)?kubepods\.slice)$/u;
/** Two classes of service have a folder of their own; guaranteed pods are directly in the top folder. */
const classFolder = /(?:^|-)(?:burstable|besteffort)(?:\.slice)?$/u;
/** systemd separates parents by `-`, so it writes the UID with `_`. */
const podFolder = /(?:^|-)pod([0-9a-f]{8}(?:[-_][0-9a-f]{4}){3}[-_][0-9a-f]{12})(?:\.slice)?$/u;
/** The kubelet's default limit is 110 pods; large nodes have a few hundred. */
const podsMax = 1_000;
/** A pod has a handful of containers; each one is a file to read. */
const containersMax = 64;

/**
 * Reads the kernel's OOM kills of all pods under `/sys/fs/cgroup`, by UID. On v2 the pod's own cgroup counts for its
 * containers and outlives them. On v1 only the container's cgroup counts a kill, and it goes with the container.
 */
export function readPodKills(root: string): ReadonlyMap<string, KillCounts> {
  const isV1 = textOf(join(root, "memory/memory.limit_in_bytes")) !== undefined;
  const top = isV1 ? join(root, "memory") : root;
  const found = new Map<string, KillCounts>();
  for (const folder of podFolders(top)) {
    const uid = podFolder.exec(basename(folder))?.[1]?.replaceAll("_", "-");
    if (uid === undefined || found.size >= podsMax) continue;
    found.set(uid, isV1 ? countsOfContainers(folder) : countsOf([["", join(folder, "memory.events")]]));
  }
  return found;
}

function podFolders(top: string): readonly string[] {
  return kubeletFolders(top).flatMap((kubelet) => {
    const entries = foldersIn(kubelet);
    const classes = entries.filter((entry) => classFolder.test(entry));
    return [
      ...entries.filter((entry) => podFolder.test(entry)).map((entry) => join(kubelet, entry)),
      ...classes.flatMap((each) => foldersIn(join(kubelet, each)).map((entry) => join(kubelet, each, entry))),
    ];
  });
}

/** At the top, or one level below when the kubelet has a root of its own (`--cgroup-root`, nodes that are containers). */
function kubeletFolders(top: string): readonly string[] {
  const entries = foldersIn(top);
  const here = entries.filter((entry) => kubeletFolder.test(entry));
  if (here.length > 0) return here.map((entry) => join(top, entry));
  return entries.flatMap((entry) =>
    foldersIn(join(top, entry))
      .filter((below) => kubeletFolder.test(below))
      .map((below) => join(top, entry, below)),
  );
}

function countsOfContainers(folder: string): KillCounts {
  const containers = foldersIn(folder).slice(0, containersMax);
  return countsOf(containers.map((name) => [name, join(folder, name, "memory.oom_control")]));
}

function countsOf(files: readonly (readonly [name: string, path: string])[]): KillCounts {
  return new Map(
    files.flatMap(([name, path]) => {
      const count = /^oom_kill (\d+)$/mu.exec(textOf(path) ?? "")?.[1];
      return count === undefined ? [] : [[name, Number(count)] as const];
    }),
  );
}

function foldersIn(path: string): readonly string[] {
  try {
    const entries = readdirSync(path, { withFileTypes: true });
    return entries.filter((entry) => entry.isDirectory()).map(({ name }) => name);
  } catch {
    // This node has no such folder, or it has just gone.
    return [];
  }
}

function textOf(path: string): string | undefined {
  try {
    return readFileSync(path, "utf8");
  } catch {
    // Gone with its pod, or absent on this kernel; the metric then has no series.
    return undefined;
  }
}
