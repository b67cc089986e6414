import type { Hand } from "../../hands/hand.ts";
import type { HostFacts } from "../../readiness/network-rules.ts";

/** A node has some dozen plugins; names beyond that are not looked for. */
const programsMax = 256;
/** An order each, once a minute; a host has a few. */
const bridgesMax = 16;
/** So many paths go into one order. */
const pathsMax = 512;

interface HostQuestion {
  readonly programs: readonly string[];
  /** Where programs are looked for. */
  readonly folders: readonly string[];
  /** Those whose uplink is of interest. */
  readonly bridges: readonly string[];
  /** Interfaces that are in pods now and come back. */
  readonly held: ReadonlySet<string>;
}

/** Looks on the host for programs in the folders of plugins, and for all interfaces. */
export async function lookAtHost(hand: Hand, { programs, folders, bridges, held }: HostQuestion): Promise<HostFacts> {
  const links = hand.supports("links") ? await hand.links("") : undefined;
  const names = new Set([...(links?.names ?? []), ...held]);
  const found = await findPrograms(hand, programs.slice(0, programsMax), folders);
  const there = bridges.filter((name) => names.has(name)).slice(0, bridgesMax);
  const uplinks = await findUplinks(hand, there);
  return {
    hasUplink: (bridge) => uplinks.get(bridge),
    hasProgram: (name) => found.get(name),
    hasLink: (name) => names.has(name) || (links === undefined || links.isTruncated ? undefined : false),
  };
}

/** By their ports' names: the bridge plugin calls the host's end of a pod `veth…`, and nothing else is called so. */
async function findUplinks(hand: Hand, bridges: readonly string[]): Promise<ReadonlyMap<string, boolean>> {
  const found = new Map<string, boolean>();
  if (!hand.supports("list")) return found;
  for (const bridge of bridges) {
    // What is no bridge has no such folder, and a look that fails says nothing.
    const ports = await hand.list(`/sys/class/net/${bridge}/brif`).catch(() => undefined);
    if (ports === undefined || ports.isTruncated) continue;
    found.set(
      bridge,
      ports.entries.some(({ name }) => !name.startsWith("veth")),
    );
  }
  return found;
}

async function findPrograms(
  hand: Hand,
  programs: readonly string[],
  folders: readonly string[],
): Promise<ReadonlyMap<string, boolean>> {
  const found = new Map(programs.map((name) => [name, false]));
  const places = programs.flatMap((name) => folders.map((folder) => ({ name, path: `${folder}/${name}` })));
  for (let at = 0; at < places.length; at += pathsMax) {
    const batch = places.slice(at, at + pathsMax);
    const seen = await hand.stat(batch.map(({ path }) => path));
    batch.forEach(({ name }, index) => {
      if (seen[index] !== undefined) found.set(name, true);
    });
  }
  return found;
}
