import { oneLine } from "../../base/plain-text.ts";
import { CommandFailure } from "../failure.ts";
import type { DeletionRefusal } from "./judge-range.ts";

/** The failure that a person sees instead of the commit or push. */
export function refusalOf(
  { what, deletions, files, allowed, declared }: DeletionRefusal,
  remedy: string,
): CommandFailure {
  const { count, names } = deletions;
  const more = count > names.length ? [`… and ${count - names.length} more`] : [];
  const claim = declared === undefined ? "" : `, not ${declared} as its message declares`;
  return new CommandFailure(
    "mass-delete",
    `${what.charAt(0).toUpperCase()}${what.slice(1)} deletes ${count} of ${files} files${claim}; ${allowed} may be deleted without a declaration`,
    {
      remedy: remedy.replaceAll("COUNT", String(count)),
      details: [...names.map((name) => `deleted: ${oneLine(name)}`), ...more].join("\n"),
    },
  );
}
