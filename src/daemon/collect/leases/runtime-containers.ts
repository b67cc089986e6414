import { join } from "node:path";
import type { Hand } from "../../../hands/hand.ts";
import { collect } from "./host-folder.ts";

/** containerd's state folder is where its distribution puts it. */
const containerdFolders = [
  "/run/containerd",
  "/run/k3s/containerd",
  "/run/k0s/containerd",
  "/var/snap/microk8s/common/run/containerd",
];
/** Of each running container a folder by its ID, below a folder for each of containerd's own namespaces. */
const containerdParts = ["io.containerd.runtime.v2.task", "io.containerd.sandbox.controller.v1.shim"];
/** CRI-O and Podman, then Docker: a folder by its ID of each container. */
const plainFolders = [
  "/run/containers/storage/overlay-containers",
  "/var/lib/containers/storage/overlay-containers",
  "/var/lib/docker/containers",
];

/**
 * Containers that a runtime of this node has a folder of. The caches of results are no list of what lives: people empty
 * them to get rid of some error, and a second runtime on the node may keep its own elsewhere.
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
  return (await collect(hand, folder, ({ kind, name }) => (kind === "folder" ? name : undefined))) ?? [];
}
