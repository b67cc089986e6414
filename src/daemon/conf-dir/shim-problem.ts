import { stat } from "node:fs/promises";
import { join } from "node:path";
import { shimType } from "../../config/shim-conf.ts";
import type { Hand } from "../../hands/hand.ts";
import { failure, warning, type ConfDirProblem } from "./conf-dir-facts.ts";
import { pluginFolders, type PluginFolderNeeds } from "../health/plugin-folders.ts";

export type ShimSight = PluginFolderNeeds & { readonly resident: () => Hand | undefined };

/**
 * Whether the runtime can find our shim: another installer may have moved or emptied the bin dir. The resident hand
 * looks, because it sees the host; without one the daemon sees only its own mounts.
 */
export async function shimProblem(sight: ShimSight): Promise<ConfDirProblem | undefined> {
  const hand = sight.resident();
  const { folders, source } = pluginFolders(sight, hand);
  // A failed look proves nothing about the shim.
  const isMissing = await (hand === undefined ? isMissingHere(folders) : isMissingOnHost(hand, folders)).catch(
    () => false,
  );
  if (!isMissing) return undefined;
  const remedy = "run levee install with the runtime's bin_dir as --dest";
  if (source === "runtime")
    return failure(
      "shim-missing",
      `${shimType} is in none of the folders where the runtime looks for plugins (${folders.join(", ")}), so it cannot call Levee and no pod can start`,
      remedy,
    );
  // Until the runtime names its folders, another folder may hold the shim.
  return warning(
    "shim-missing",
    `${shimType} is not in ${folders.join(", ")}; if that is where the runtime looks for plugins, no pod can start`,
    remedy,
  );
}

async function isMissingOnHost(hand: Hand, folders: readonly string[]): Promise<boolean> {
  const found = await hand.stat(folders.map((folder) => join(folder, shimType)));
  return found.every((identity) => identity === undefined);
}

/** A folder that is not mounted here may hold the shim on the host. */
async function isMissingHere(folders: readonly string[]): Promise<boolean> {
  for (const folder of folders) {
    if (!(await isThere(folder)) || (await isThere(join(folder, shimType)))) return false;
  }
  return true;
}

function isThere(path: string): Promise<boolean> {
  return stat(path).then(
    () => true,
    () => false,
  );
}
