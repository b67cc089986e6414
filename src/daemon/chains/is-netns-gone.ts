import { sameNetns, type NetnsIdentity } from "../../base/identity.ts";
import type { Hand } from "../../hands/hand.ts";

/** Where a hand runs plugins: the path that it was given, and what that led to. */
interface NetnsSeen {
  readonly path: string;
  readonly identity: NetnsIdentity | undefined;
}

/**
 * Whether the runtime has taken a namespace away meanwhile, as it does with the sandboxes of a call that it has given up.
 * A hand that cannot tell any more leaves it open.
 */
export async function isNetnsGone(hand: Pick<Hand, "stat">, { path, identity }: NetnsSeen): Promise<boolean> {
  if (identity === undefined || path === "") return false;
  try {
    const [found] = await hand.stat([path]);
    return !sameNetns(found, identity);
  } catch {
    return false;
  }
}
