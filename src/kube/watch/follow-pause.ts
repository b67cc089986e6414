import type { BackOffBounds } from "../back-off.ts";
import { KubeError } from "../client/api.ts";
import { isGone } from "../client/refusal.ts";

const longestMs = 30_000;
const usual = { firstMs: 500, longestMs };
/** A server that ends takes the watches of all nodes with it. */
const inACrowd = { firstMs: 2_000, longestMs };
/**
 * A server that starts has forgotten the places of all nodes, and each needs a new list. 5,000 nodes with two lists each
 * are then 333 lists a second. Until then the copy is old, and what it lacks is read one by one.
 */
const listInACrowd = { firstMs: longestMs, longestMs };

/** The bounds of the pause before the next watch or list: after an error, or after a watch that ended in its time. */
export function followPause(
  { isOneOfMany = false }: { readonly isOneOfMany?: boolean },
  { lists }: { readonly lists: number },
  thrown?: unknown,
): BackOffBounds {
  const afterMs = thrown instanceof KubeError ? thrown.retryAfterMs : undefined;
  if (!isOneOfMany || thrown === undefined) return { ...usual, afterMs };
  // Without a list there is no copy to go on with.
  return { ...(lists > 0 && isGone(thrown) ? listInACrowd : inACrowd), afterMs };
}
