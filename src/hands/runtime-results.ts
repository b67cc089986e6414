import { join } from "node:path";
import type { FolderEntry } from "../wire/folder-page.ts";
import type { Hand } from "./hand.ts";
import { readHostFolder } from "./host-folder.ts";

type ResultFile = Pick<FolderEntry, "name" | "changedWallMs">;

/** The runtime's results in libcni's cache, in its usual place and in that of old kubelets; undefined when neither exists. */
export async function runtimeResults(hand: Hand, folder: string): Promise<readonly ResultFile[] | undefined> {
  const read = (place: string): Promise<readonly ResultFile[] | undefined> =>
    readHostFolder(hand, join(folder, place), ({ name, changedWallMs }) => ({ name, changedWallMs }));
  const usual = await read("results");
  const old = await read("cache/results");
  return usual === undefined && old === undefined ? undefined : [...(usual ?? []), ...(old ?? [])];
}
