import { join } from "node:path";
import type { Hand } from "../../../hands/hand.ts";
import { readHostFolder } from "../../../hands/host-folder.ts";

/** containerd's state folder in the common distributions. */
const containerdFolders = [
  "/run/containerd",
  "/run/k3s/containerd",
  "/run/k0s/containerd",
  "/var/snap/microk8s/common/run/containerd",
];
/** These hold a folder per containerd namespace, and below it a folder per running container, named by its ID. */
const containerdParts = ["io.containerd.runtime.v2.task", "io.containerd.sandbox.controller.v1.shim"];
/** CRI-O and Podman, then Docker: a folder per container, named by its ID. */
const plainFolders = [
  "/run/containers/storage/overlay-containers",
  "/var/lib/containers/storage/overlay-containers",
  "/var/lib/docker/containers",
];

/**
 * Containers for which a runtime of this node has a folder. The caches of results are not a reliable list: people empty
 * them to clear an error, and a second runtime may keep its own elsewhere.
 */
export async function containersOfRuntimes(hand: Hand): Promise<readonly string[]> {
  const ids: string[] = [];
  for (const folder of plainFolders) ids.push(...(await foldersIn(hand, folder)));
  for (const state of containerdFolders)
    for (const part of containerdParts) {
      const folder = join(state, part);
      for (const namespace of await foldersIn(hand, folder))
        ids.push(...(await foldersIn(hand, join(folder, namespace))));
    }
  return ids;
}

async function foldersIn(hand: Hand, folder: string): Promise<readonly string[]> {
  return (await readHostFolder(hand, folder, ({ kind, name }) => (kind === "folder" ? name : undefined))) ?? [];
}
