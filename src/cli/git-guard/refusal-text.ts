import { oneLine } from "../../base/plain-text.ts";
import { CommandFailure } from "../failure.ts";
import type { DeletionRefusal } from "./judge-range.ts";

/** What a person reads in place of the commit or the push that did not happen. */
export function refusalOf(
  { what, deletions, files, allowed, declared }: DeletionRefusal,
  remedy: string,
): CommandFailure {
  const { count, names } = deletions;
  const more = count > names.length ? [`… and ${count - names.length} more`] : [];
  const claim = declared === undefined ? "" : `, and not ${declared} as its message says`;
  return new CommandFailure(
    "mass-delete",
    `${what.charAt(0).toUpperCase()}${what.slice(1)} deletes ${count} of ${files} files${claim}; ${allowed} may go without saying so`,
    {
      remedy: remedy.replaceAll("COUNT", String(count)),
      details: [...names.map((name) => `deleted: ${oneLine(name)}`), ...more].join("\n"),
    },
  );
}
