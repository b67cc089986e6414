import { LeveeError } from "../base/errors.ts";
import type { Hand } from "./hand.ts";
import type { FolderEntry } from "../wire/folder-page.ts";

/** A node has a few hundred addresses; a folder with more entries than this is not host-local's. */
const entriesMax = 20_000;

/** Maps every entry of a folder on the host through `take`, page by page; undefined when the folder does not exist. */
export async function readHostFolder<T>(
  hand: Hand,
  folder: string,
  take: (entry: FolderEntry) => T | undefined,
): Promise<readonly T[] | undefined> {
  const taken: T[] = [];
  let page = await hand.list(folder);
  if (page === undefined) return undefined;
  for (let seen = 0; seen < entriesMax;) {
    taken.push(...page.entries.flatMap((entry) => take(entry) ?? []));
    if (!page.isTruncated) return taken;
    seen += page.entries.length;
    const last: string | undefined = page.entries.at(-1)?.name;
    page = last === undefined ? undefined : await hand.list(folder, last);
    // With half a list, the containers of the other half would look unknown.
    if (page === undefined)
      throw new LeveeError("io-failed", `Cannot read ${folder} because it was removed while it was read`);
  }
  throw new LeveeError("io-failed", `Cannot read ${folder} as it has more than ${entriesMax} entries`);
}
