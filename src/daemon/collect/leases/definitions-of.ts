import type { NetworkDefinition } from "../../../view/network-definition.ts";

/** As many definitions as folders are looked at. */
const definitionsMax = 500;
const namePattern = /"name"\s*:\s*"([^"\\]{1,253})"/giu;

/** The definitions that host-local may have given these networks' addresses for, by their text alone. */
export function definitionsOf(
  definitions: readonly NetworkDefinition[],
  folders: ReadonlySet<string>,
): readonly NetworkDefinition[] {
  if (folders.size === 0) return [];
  return definitions
    .filter(({ name, config = "" }) => {
      // The engine's own search is many times faster than the pattern.
      if (!config.includes("host-local")) return false;
      return folders.has(name) || [...config.matchAll(namePattern)].some(([, found = ""]) => folders.has(found));
    })
    .slice(0, definitionsMax);
}
