import type { Hand } from "../../hands/hand.ts";
import type { LinkFacts } from "../../readiness/master-rules.ts";
import type { BridgePorts, UplinkFacts } from "../../readiness/uplink-rules.ts";
import type { FolderEntry } from "../../wire/folder-page.ts";

/** Each port's state is a forked look of the hand. A bridge has one or two uplinks; guests have the other ports. */
const statesMax = 8;
/** Of the names of a bridge's ports: the bridge plugin calls the host's end of a pod so. */
const podPort = "veth";
/** Names that libvirt, QEMU and others give to the ports of virtual machines. */
const guestPort = /^(?:tap|vnet|tun|fwpr|fwln)/u;
/** The kernel's words for a port that carries nothing. */
const downStates = new Set(["down", "lowerlayerdown", "notpresent", "dormant"]);
const vlanFolder = "/proc/net/vlan";

export type Vlans = ReadonlyMap<string, { readonly id: number; readonly parent: string }>;

interface UplinkQuestion {
  readonly bridges: readonly string[];
  /** Ports that definitions name as uplinks. */
  readonly named: ReadonlySet<string>;
  /** Whether the VLAN of an uplink counts. */
  readonly wantsVlans: boolean;
}

/** The ports of each bridge that do not lead to a pod, their state, and their VLANs if these count. */
export async function findUplinks(
  hand: Hand,
  { bridges, named, wantsVlans }: UplinkQuestion,
): Promise<ReadonlyMap<string, BridgePorts>> {
  const found = new Map<string, BridgePorts>();
  if (!hand.supports("list") || bridges.length === 0) return found;
  const vlans: Vlans | undefined = wantsVlans ? await readVlans(hand) : new Map();
  for (const bridge of bridges) {
    const ports = await portsOf(hand, bridge);
    found.set(bridge, typeof ports === "object" ? await uplinksIn(hand, ports, { named, vlans }) : ports);
  }
  return found;
}

/** The names of a bridge's ports that do not lead to a pod. A failed look proves nothing. */
async function portsOf(hand: Hand, bridge: string): Promise<readonly string[] | "no-bridge" | undefined> {
  const page = await hand.list(`/sys/class/net/${bridge}/brif`).catch(() => "failed" as const);
  if (page === undefined) return (await isNoBridge(hand, bridge)) ? "no-bridge" : undefined;
  if (page === "failed" || page.isTruncated) return undefined;
  return page.entries.map(({ name }) => name).filter((name) => !name.startsWith(podPort));
}

async function uplinksIn(
  hand: Hand,
  names: readonly string[],
  { named, vlans }: { readonly named: ReadonlySet<string>; readonly vlans: Vlans | undefined },
): Promise<readonly UplinkFacts[]> {
  const signs = (name: string): readonly boolean[] => [
    named.has(name),
    vlans?.has(name) === true,
    !guestPort.test(name),
    true,
  ];
  const place = (name: string): number => signs(name).indexOf(true);
  const uplinks: UplinkFacts[] = [];
  for (const name of names.toSorted((one, other) => place(one) - place(other))) {
    const isUp = uplinks.length < statesMax ? await isPortUp(hand, name) : undefined;
    uplinks.push({ name, isUp, vlan: vlans === undefined ? "unseen" : vlans.get(name) });
  }
  return uplinks;
}

/** The interface must be there: in another namespace's sysfs, or after it vanished, no look proves anything. */
async function isNoBridge(hand: Hand, name: string): Promise<boolean> {
  const page = await hand.list(`/sys/class/net/${name}/.`).catch(() => undefined);
  return page !== undefined && !page.isTruncated && page.entries.every((entry) => entry.name !== "bridge");
}

async function isPortUp(hand: Hand, name: string): Promise<boolean | undefined> {
  const page = await hand.list(`/sys/class/net/${name}/.`).catch(() => undefined);
  const state = page?.entries.find((entry) => entry.name === "operstate")?.content;
  return state === undefined ? undefined : !downStates.has(Buffer.from(state).toString("latin1").trim());
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
