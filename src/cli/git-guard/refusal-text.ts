import { oneLine } from "../../base/plain-text.ts";
import { CommandFailure } from "../failure.ts";
import type { DeletionRefusal } from "./judge-range.ts";

/**
 * The failure that a person sees instead of the commit or push. It has no line to paste: who declares the deletion has to
 * have read how many files go.
 */
export function refusalOf(
  { what, deletions, files, allowed, declared }: DeletionRefusal,
  remedy: string,
): CommandFailure {
  const { count, emptied, names } = deletions;
  const more = count > names.length ? [`… and ${count - names.length} more`] : [];
  const claim = declared === undefined ? "" : `, not ${declared} as its message declares`;
  return new CommandFailure(
    "mass-delete",
    `${what.charAt(0).toUpperCase()}${what.slice(1)} ${doingOf(count - emptied, emptied)} of ${files} files${claim}; ${allowed} may be deleted without a declaration`,
    {
      remedy,
      details: [
        ...names.map(({ name, isEmptied }) => `${isEmptied ? "emptied" : "deleted"}: ${oneLine(name)}`),
        ...more,
      ].join("\n"),
    },
  );
}

function doingOf(deleted: number, emptied: number): string {
  const parts = [...(deleted > 0 ? [`deletes ${deleted}`] : []), ...(emptied > 0 ? [`empties ${emptied}`] : [])];
  return parts.join(" and ");
}
