import type { NetnsPath } from "../../base/brand.ts";
import { isCertainlySameNetns, sameNetns, type NetnsIdentity } from "../../base/identity.ts";
import type { Chain } from "../../cni/chain.ts";
import type { Hand } from "../../hands/hand.ts";
import type { AttachmentRecord } from "../../state/journal/attachment-record.ts";
import type { Journal } from "../../state/journal/journal.ts";

/** The namespace as it is now. The identity is undefined when the path leads nowhere. */
export interface NetnsNow {
  readonly path: string;
  readonly identity: NetnsIdentity | undefined;
  /** There is nothing at all at the path; absent when nobody looked. */
  readonly isPathFree?: boolean;
}

interface NetnsNeeds {
  readonly bootId: string;
  readonly journal: Pick<Journal, "inNetns">;
}

/**
 * The namespace for the plugins of an undo: the attached one, or none when it is gone, when its path leads to another one
 * by now, or when a later container has the same interface in it. A record from Multus has no identity, so the caller's
 * path counts.
 */
export function netnsToPass(record: AttachmentRecord, now: NetnsNow, needs: NetnsNeeds): NetnsPath | "" {
  const { path, identity } = now;
  if (identity === undefined) return "";
  const known = record.netns.identity;
  const isIts = known === undefined || (record.bootId === needs.bootId && sameNetns(known, identity));
  return isIts && !isSuperseded(record, identity, needs) ? (path as NetnsPath) : "";
}

/**
 * Plugins that find what they made by the path of the namespace, also of one that is gone. Without it ovs-cni (v0.39.0)
 * succeeds and leaves a port that the switch has not marked as broken; a switch in user space marks none.
 */
const findByPath: ReadonlySet<string> = new Set(["ovs"]);

/**
 * The path of a namespace that is gone, for a chain of such plugins: they must not meet another namespace there, so the
 * path must be free, and the path of a process may be another one's in the next moment.
 */
export function goneNetnsPath({ links }: Pick<Chain, "links">, { path, isPathFree }: NetnsNow): NetnsPath | "" {
  const isFound = isPathFree === true && path.includes("/netns/") && links.every(({ type }) => findByPath.has(type));
  return isFound ? (path as NetnsPath) : "";
}

/**
 * Whether a later ADD has one of the record's interface names in that namespace. It was let in because the record's own
 * interface was not there, so an undo of the record inside of the namespace would take away the later one's.
 *
 * The journal's order tells which one is later, because the wall clock may be set back between two ADDs. A record that is
 * not in the journal came before all of it: a leak, a rebuilt record, an import of Multus' cache, which has no identity.
 */
export function isSuperseded(record: AttachmentRecord, netns: NetnsIdentity, needs: NetnsNeeds): boolean {
  const inOrder = needs.journal.inNetns(netns);
  const own = inOrder.findIndex(({ token }) => token === record.token);
  if (own + 1 === inOrder.length) return false;
  const ifnames = new Set(record.chains.map((chain) => chain.ifname));
  // Its cookie proves that the namespace is its own. One without a cookie may only have had the same numbers before.
  const isCertain = isCertainlySameNetns(record.netns.identity, netns);
  return inOrder
    .slice(own + 1)
    .some(
      (other) =>
        other.bootId === needs.bootId &&
        !(isCertain && other.netns.identity?.cookie === undefined) &&
        other.chains.some(({ ifname }) => ifnames.has(ifname)),
    );
}

/** The namespace at a path now; undefined when there is none, also when the path leads to something else. */
export async function netnsAt(hand: Pick<Hand, "stat">, path: string): Promise<NetnsIdentity | undefined> {
  return (await lookAtNetns(hand, path)).identity;
}

export async function lookAtNetns(hand: Pick<Hand, "stat">, path: string): Promise<NetnsNow> {
  if (path === "") return { path, identity: undefined };
  const [found] = await hand.stat([path]);
  return { path, identity: found?.isNetns === false ? undefined : found, isPathFree: found === undefined };
}
