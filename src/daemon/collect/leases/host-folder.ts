import { LeveeError } from "../../../base/errors.ts";
import type { Hand } from "../../../hands/hand.ts";
import type { FolderEntry } from "../../../wire/folder-page.ts";

/** A node has some hundred addresses; a folder with more entries than this is not one of host-local's. */
const entriesMax = 20_000;

/** What `take` makes of every entry of a folder of the host, page by page; undefined when the folder is not there. */
export async function collect<T>(
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
    // Half a list would make the containers of the other half unknown.
    if (page === undefined)
      throw new LeveeError("io-failed", `Cannot read ${folder} as it was taken away while it was read`);
  }
  throw new LeveeError("io-failed", `Cannot read ${folder} as it has more than ${entriesMax} entries`);
}
