import { mkdir, readdir, readFile, rm, rmdir } from "node:fs/promises";
import { dirname, join } from "node:path";
import { parse, stringify } from "yaml";
import { writeFileAtomically } from "../../base/atomic-file.ts";
import { errnoOf } from "../../base/errors.ts";
import { networkText, type NetworkChoice, type PodKey } from "./names.ts";
import { defaultNetworkAnnotation, networksAnnotation } from "../../base/annotations.ts";

/** A pod that `levee attach` made: what the daemon reads, and what `levee detach` needs for the undo. */
export interface AttachedPod extends PodKey {
  readonly uid: string;
  readonly containerId: string;
  /** Name of its network namespace, under /var/run/netns. */
  readonly netns: string;
}

export interface NewPod extends AttachedPod {
  readonly defaultNetwork: NetworkChoice;
  readonly additional: readonly NetworkChoice[];
}

const annotationKey = {
  defaultNetwork: defaultNetworkAnnotation,
  networks: networksAnnotation,
  containerId: "levee.dev/container-id",
  netns: "levee.dev/netns",
} as const;

const fileSuffix = ".yaml";

export function podFilePath(directory: string, pod: PodKey): string {
  return join(directory, "pods", `${pod.namespace}.${pod.name}${fileSuffix}`);
}

/** Makes the folder of pod files. Returns the topmost folder that it created; undefined if all existed. */
export function makePodFolder(directory: string): Promise<string | undefined> {
  return mkdir(join(directory, "pods"), { recursive: true, mode: 0o755 });
}

/** Undoes `makePodFolder` for folders that are still empty. */
export async function removePodFolder(directory: string, uppermost: string): Promise<void> {
  let folder = join(directory, "pods");
  while (folder === uppermost || folder.startsWith(`${uppermost}/`)) {
    try {
      await rmdir(folder);
    } catch (error) {
      if (errnoOf(error) === "ENOTEMPTY" || errnoOf(error) === "ENOENT") return;
      throw error;
    }
    folder = dirname(folder);
  }
}

export async function writePodFile(directory: string, pod: NewPod): Promise<void> {
  await makePodFolder(directory);
  const path = podFilePath(directory, pod);
  // The daemon watches for *.yaml; it ignores the unfinished file because of the leading dot.
  const temporary = join(directory, "pods", `.${pod.namespace}.${pod.name}.tmp`);
  await writeFileAtomically(path, podYaml(pod), { mode: 0o644, sync: false, temporary });
}

/** Removes the file if `levee attach` wrote it. */
export async function removePodFile(directory: string, pod: PodKey): Promise<void> {
  if ((await readPodFile(directory, pod)) !== undefined) await rm(podFilePath(directory, pod), { force: true });
}

/** The pod in the file; undefined if there is no file or `levee attach` did not write it. */
export async function readPodFile(directory: string, pod: PodKey): Promise<AttachedPod | undefined> {
  try {
    return parsePodFile(await readFile(podFilePath(directory, pod), "utf8"));
  } catch (error) {
    if (errnoOf(error) === "ENOENT") return undefined;
    throw error;
  }
}

/** Every pod in the folder that `levee attach` wrote, by namespace and name. */
export async function listPodFiles(directory: string): Promise<readonly AttachedPod[]> {
  const names = await readdir(join(directory, "pods")).catch((error: unknown) => {
    if (errnoOf(error) === "ENOENT") return [];
    throw error;
  });
  const files = names.filter((name) => name.endsWith(fileSuffix) && !name.startsWith(".")).toSorted();
  const pods = await Promise.all(
    files.map(async (name) => parsePodFile(await readFile(join(directory, "pods", name), "utf8"))),
  );
  return pods.filter((pod) => pod !== undefined);
}

export function podYaml(pod: NewPod): string {
  const additional = pod.additional.map(networkText).join(",");
  return stringify({
    apiVersion: "v1",
    kind: "Pod",
    metadata: {
      name: pod.name,
      namespace: pod.namespace,
      uid: pod.uid,
      annotations: {
        [annotationKey.defaultNetwork]: networkText(pod.defaultNetwork),
        ...(additional === "" ? {} : { [annotationKey.networks]: additional }),
        [annotationKey.containerId]: pod.containerId,
        [annotationKey.netns]: pod.netns,
      },
    },
  });
}

/** Reads our own annotations. A file without them, or one that is not YAML, is not ours to undo. */
export function parsePodFile(content: string): AttachedPod | undefined {
  const metadata = member(parsedYaml(content), "metadata");
  const annotations = member(metadata, "annotations");
  const pod = {
    namespace: textMember(metadata, "namespace"),
    name: textMember(metadata, "name"),
    uid: textMember(metadata, "uid"),
    containerId: textMember(annotations, annotationKey.containerId),
    netns: textMember(annotations, annotationKey.netns),
  };
  // The netns becomes part of a path that is deleted, so only names that attach makes are accepted.
  const isOurs =
    /^[0-9a-f]{64}$/u.test(pod.containerId) &&
    /^levee-[-a-z0-9.]{1,128}$/u.test(pod.netns) &&
    !pod.netns.includes("..");
  return isOurs && pod.name !== "" && pod.namespace !== "" ? pod : undefined;
}

function parsedYaml(content: string): unknown {
  try {
    return parse(content);
  } catch {
    return undefined; // The daemon reports a broken file; here it only means "not ours".
  }
}

function member(from: unknown, key: string): unknown {
  if (typeof from !== "object" || from === null) return undefined;
  return Object.entries(from).find(([name]) => name === key)?.[1];
}

function textMember(from: unknown, key: string): string {
  const value = member(from, key);
  return typeof value === "string" ? value : "";
}
