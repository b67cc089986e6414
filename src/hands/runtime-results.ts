import { join } from "node:path";
import type { FolderEntry } from "../wire/folder-page.ts";
import type { Hand } from "./hand.ts";
import { readHostFolder } from "./host-folder.ts";

type ResultFile = Pick<FolderEntry, "name" | "changedWallMs">;

/** libcni's cache: its usual place, and that of old kubelets. */
export function resultFolders(folder: string): readonly string[] {
  return ["results", "cache/results"].map((place) => join(folder, place));
}

/** The runtime's results in libcni's cache; undefined when it has no folder. */
export async function runtimeResults(hand: Hand, folder: string): Promise<readonly ResultFile[] | undefined> {
  let results: ResultFile[] | undefined;
  for (const place of resultFolders(folder)) {
    const found = await readHostFolder(hand, place, ({ name, changedWallMs }) => ({ name, changedWallMs }));
    if (found !== undefined) results = [...(results ?? []), ...found];
  }
  return results;
}
