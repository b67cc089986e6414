import type { Hand } from "../../hands/hand.ts";
import type { LinkFacts } from "../../readiness/master-rules.ts";
import type { UplinkFacts } from "../../readiness/uplink-rules.ts";
import type { FolderEntry } from "../../wire/folder-page.ts";

/** A bridge of a host has one or two; more are not looked at. */
const uplinksMax = 8;
/** Of the names of a bridge's ports: the bridge plugin calls the host's end of a pod so. */
const podPort = "veth";
/** The kernel's words for a port that carries nothing. */
const downStates = new Set(["down", "lowerlayerdown", "notpresent", "dormant"]);
const vlanFolder = "/proc/net/vlan";

export type Vlans = ReadonlyMap<string, { readonly id: number; readonly parent: string }>;

/** The ports of each bridge that do not lead to a pod, their state, and their VLANs if these count. */
export async function findUplinks(
  hand: Hand,
  bridges: readonly string[],
  wantsVlans: boolean,
): Promise<ReadonlyMap<string, readonly UplinkFacts[]>> {
  const found = new Map<string, readonly UplinkFacts[]>();
  if (!hand.supports("list") || bridges.length === 0) return found;
  const vlans = wantsVlans ? await readVlans(hand) : new Map();
  for (const bridge of bridges) {
    // An interface that is not a bridge has no such folder, and a failed look proves nothing.
    const page = await hand.list(`/sys/class/net/${bridge}/brif`).catch(() => undefined);
    if (page === undefined || page.isTruncated || vlans === undefined) continue;
    const names = page.entries.map(({ name }) => name).filter((name) => !name.startsWith(podPort));
    const uplinks: UplinkFacts[] = [];
    for (const name of names.slice(0, uplinksMax)) uplinks.push(await uplinkOf(hand, name, vlans));
    found.set(bridge, uplinks);
  }
  return found;
}

/** State, MTU and role of interfaces that exist. Their folders are links, which a hand follows only in the middle. */
export async function findLinks(hand: Hand, names: readonly string[]): Promise<ReadonlyMap<string, LinkFacts>> {
  const found = new Map<string, LinkFacts>();
  if (!hand.supports("list")) return found;
  for (const name of names) {
    const page = await hand.list(`/sys/class/net/${name}/.`).catch(() => undefined);
    if (page !== undefined && !page.isTruncated) found.set(name, linkFacts(page.entries));
  }
  return found;
}

/** IFF_UP: what a person has set, whether there is a cable or not. */
const upFlag = 1;

function linkFacts(entries: readonly FolderEntry[]): LinkFacts {
  const number = (name: string): number | undefined => {
    const content = entries.find((entry) => entry.name === name)?.content;
    const value = content === undefined ? Number.NaN : Number(Buffer.from(content).toString("latin1").trim());
    return Number.isInteger(value) ? value : undefined;
  };
  const flags = number("flags");
  return {
    isUp: flags === undefined ? undefined : (flags & upFlag) !== 0,
    mtu: number("mtu"),
    isPort: entries.some(({ name }) => name === "master"),
  };
}

async function uplinkOf(hand: Hand, name: string, vlans: Vlans): Promise<UplinkFacts> {
  const page = await hand.list(`/sys/class/net/${name}/.`).catch(() => undefined);
  const state = page?.entries.find((entry) => entry.name === "operstate")?.content;
  const isUp = state === undefined ? undefined : !downStates.has(Buffer.from(state).toString("latin1").trim());
  const vlan = vlans.get(name);
  return { name, isUp, ...(vlan === undefined ? {} : { vlan }) };
}

/** The VLAN devices of the host; undefined when the look failed. Without a VLAN device the folder may be absent. */
export async function readVlans(hand: Hand): Promise<Vlans | undefined> {
  const page = await hand.list(vlanFolder).catch(() => "failed" as const);
  if (page === "failed") return undefined;
  const vlans = new Map<string, { id: number; parent: string }>();
  for (const { name, content } of page?.entries ?? []) {
    const text = content === undefined ? "" : Buffer.from(content).toString("latin1");
    const [id, parent] = [/\bVID: (\d+)/u.exec(text)?.[1], /^Device: (\S+)/mu.exec(text)?.[1]];
    if (id !== undefined && parent !== undefined) vlans.set(name, { id: Number(id), parent });
  }
  return vlans;
}
