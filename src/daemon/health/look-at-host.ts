import type { Hand } from "../../hands/hand.ts";
import type { HostFacts } from "../../readiness/network-rules.ts";
import type { FolderEntry } from "../../wire/folder-page.ts";
import type { FoundFile } from "../../wire/outcome.ts";
import { findLinks, findUplinks } from "./look-at-uplinks.ts";
import type { PluginVersions } from "./plugin-versions.ts";

/** A node has a few dozen plugins; further names are not looked for. */
const programsMax = 256;
/** Each bridge is an order to the hand once a minute. A host has a few; with a bridge for each VLAN, some dozen. */
const bridgesMax = 64;
/** Per order. */
const pathsMax = 512;

interface HostQuestion {
  readonly programs: readonly string[];
  /** Where programs are looked for. */
  readonly folders: readonly string[];
  /** What programs answered to VERSION. */
  readonly versions: PluginVersions;
  /** Interfaces on which plugins put others. */
  readonly masters: readonly string[];
  /** Bridges that need an uplink. */
  readonly bridges: readonly string[];
  /** Ports that definitions name as uplinks. */
  readonly named: ReadonlySet<string>;
  /** Whether the VLAN of an uplink counts. */
  readonly wantsVlans: boolean;
  /** Bridges that must filter VLANs. */
  readonly vlanBridges: readonly string[];
  /** Sockets of daemons. */
  readonly sockets: readonly string[];
  /** Interfaces that are in pods now and will return. */
  readonly held: ReadonlySet<string>;
}

/** Has the hand look for programs in the plugin folders, for all interfaces, and for sockets of daemons. */
export async function lookAtHost(hand: Hand, question: HostQuestion): Promise<HostFacts> {
  const { programs, folders, versions, masters, bridges, named, wantsVlans, vlanBridges, sockets, held } = question;
  const links = hand.supports("links") ? await hand.links("") : undefined;
  const names = new Set([...(links?.names ?? []), ...held]);
  const found = await findPrograms(hand, programs.slice(0, programsMax), folders);
  const there = (wanted: readonly string[]): readonly string[] =>
    wanted.filter((name) => names.has(name)).slice(0, bridgesMax);
  const uplinks = await findUplinks(hand, { bridges: there(bridges), named, wantsVlans });
  const filters = await findVlanFilters(hand, there(vlanBridges));
  const wanted = programs.slice(0, programsMax);
  await versions.ask(hand, new Map(wanted.map((name) => [name, found.get(name)])), folders);
  const lower = await findLinks(hand, there(masters));
  const listening = await findFiles(hand, sockets.slice(0, pathsMax));
  return {
    filtersVlans: (bridge) => filters.get(bridge),
    uplinks: (bridge) => uplinks.get(bridge),
    hasProgram: (name) => (wanted.includes(name) ? found.has(name) || versions.isBuiltIn(name) : undefined),
    program: (name) => versions.of(name),
    link: (name) => lower.get(name),
    hasFile: (path) => listening.get(path),
    hasLink: (name) => names.has(name) || (links === undefined || links.isTruncated ? undefined : false),
  };
}

/** The character in sysfs for a setting that is on. */
const on = "1".charCodeAt(0);

/** A kernel without VLAN filtering has no such file. */
function findVlanFilters(hand: Hand, bridges: readonly string[]): Promise<ReadonlyMap<string, boolean>> {
  const isOn = ({ name, content }: FolderEntry): boolean => name === "vlan_filtering" && content?.[0] === on;
  return judgeBridges(hand, { bridges, folder: "bridge" }, (settings) => settings.some(isOn));
}

/** Judges bridges by a folder of theirs in sysfs. */
async function judgeBridges(
  hand: Hand,
  { bridges, folder }: { readonly bridges: readonly string[]; readonly folder: string },
  judge: (entries: readonly FolderEntry[]) => boolean,
): Promise<ReadonlyMap<string, boolean>> {
  const found = new Map<string, boolean>();
  if (!hand.supports("list")) return found;
  for (const bridge of bridges) {
    // An interface that is not a bridge has no such folder, and a failed look proves nothing.
    const page = await hand.list(`/sys/class/net/${bridge}/${folder}`).catch(() => undefined);
    if (page !== undefined && !page.isTruncated) found.set(bridge, judge(page.entries));
  }
  return found;
}

/** The programs that exist, each in the first folder that has it. */
async function findPrograms(
  hand: Hand,
  programs: readonly string[],
  folders: readonly string[],
): Promise<ReadonlyMap<string, FoundFile>> {
  const found = new Map<string, FoundFile>();
  const places = programs.flatMap((name) => folders.map((folder) => ({ name, path: `${folder}/${name}` })));
  for (let at = 0; at < places.length; at += pathsMax) {
    const batch = places.slice(at, at + pathsMax);
    const seen = await hand.stat(batch.map(({ path }) => path));
    batch.forEach(({ name }, index) => {
      const file = seen[index];
      if (file !== undefined && !found.has(name)) found.set(name, file);
    });
  }
  return found;
}

async function findFiles(hand: Hand, paths: readonly string[]): Promise<ReadonlyMap<string, boolean>> {
  if (paths.length === 0) return new Map();
  const seen = await hand.stat(paths);
  return new Map(paths.map((path, index) => [path, seen[index] !== undefined]));
}
