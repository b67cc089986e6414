import type { Hand } from "../hands/hand.ts";
import type { HostFacts } from "../readiness/network-rules.ts";

/** A node has some dozen plugins; names beyond that are not looked for. */
const programsMax = 256;
/** So many paths go into one order. */
const pathsMax = 512;

export interface HostQuestion {
  readonly programs: readonly string[];
  /** Where programs are looked for. */
  readonly folders: readonly string[];
  /** Interfaces that are in pods now and come back. */
  readonly held: ReadonlySet<string>;
}

/** Looks on the host for programs in the folders of plugins, and for all interfaces. */
export async function lookAtHost(hand: Hand, { programs, folders, held }: HostQuestion): Promise<HostFacts> {
  const links = hand.supports("links") ? await hand.links("") : undefined;
  const names = new Set([...(links?.names ?? []), ...held]);
  const found = await findPrograms(hand, programs.slice(0, programsMax), folders);
  return {
    hasProgram: (name) => found.get(name),
    hasLink: (name) => names.has(name) || (links === undefined || links.isTruncated ? undefined : false),
  };
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
