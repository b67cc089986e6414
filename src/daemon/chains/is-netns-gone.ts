import { sameNetns, type NetnsIdentity } from "../../base/identity.ts";
import type { Hand } from "../../hands/hand.ts";

/**
 * Whether the runtime has taken a namespace away meanwhile, as it does with the sandboxes of a call that it has given up:
 * its path no longer leads to it. A hand that cannot tell any more leaves it open.
 */
export async function isNetnsGone(
  hand: Pick<Hand, "stat">,
  path: string,
  identity: NetnsIdentity | undefined,
): Promise<boolean> {
  if (identity === undefined || path === "") return false;
  try {
    const [found] = await hand.stat([path]);
    return !sameNetns(found, identity);
  } catch {
    return false;
  }
}
