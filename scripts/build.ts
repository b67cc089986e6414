/**
 * Builds dist/levee-shim (Rust, static) and dist/levee (the daemon, the commands and the console's page, one executable).
 * A part whose inputs are unchanged is left alone. `bun scripts/build.ts [--shim-only]`
 */
import { copyFileSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { consolePagePart } from "./build/console-page.ts";
import { hostArchitecture, leveePart } from "./build/levee-program.ts";
import { buildPart, dist, root } from "./build/part.ts";
import { ownShimPart, shippedShimPart } from "./build/shim-program.ts";
import { readPins, type Architecture, type Pins } from "./debian/pins.ts";
import { ensurePrerequisites } from "./prerequisites.ts";

/** On the PATH beside `levee` they add `kubectl levee`. */
export const pluginFiles = ["kubectl-levee", "kubectl_complete-levee"];

/** The paths of the two programs. */
export interface Programs {
  readonly levee: string;
  readonly shim: string;
}

/** Builds the parts that have changed, for this machine. Throws if a part cannot be built or breaks a promise. */
export function build(options: { readonly shimOnly: boolean }): void {
  mkdirSync(dist, { recursive: true });
  buildPart(ownShimPart);
  if (!options.shimOnly) for (const part of [consolePagePart, leveePart(hostArchitecture)]) buildPart(part);
  for (const name of pluginFiles) copyFileSync(join(root, "deploy/plugin", name), join(dist, name));
}

/** Builds the programs that are shipped for an architecture: the same bytes on every machine. */
export function buildShipped(architecture: Architecture, pins: Pins = readPins()): Programs {
  mkdirSync(dist, { recursive: true });
  // The page first: it is embedded into the program.
  const parts = [consolePagePart, leveePart(architecture), shippedShimPart(architecture, pins)];
  for (const part of parts) buildPart(part);
  return shippedPrograms(architecture, pins);
}

/** Where `buildShipped` leaves the programs. */
export function shippedPrograms(architecture: Architecture, pins: Pins): Programs {
  return { levee: leveePart(architecture).output, shim: shippedShimPart(architecture, pins).output };
}

if (import.meta.main) {
  if (!ensurePrerequisites("build")) process.exit(1);
  try {
    build({ shimOnly: process.argv.includes("--shim-only") });
  } catch (thrown) {
    console.error(thrown instanceof Error ? thrown.message : String(thrown));
    process.exit(1);
  }
}
