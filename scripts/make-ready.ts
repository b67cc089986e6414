import { build } from "./build.ts";
import { ensurePrerequisites, type Purpose } from "./prerequisites.ts";

/** Installs the prerequisites and builds the parts that have changed. Prints the reason and returns false if that fails. */
export function makeReady(purpose: Purpose): boolean {
  if (!ensurePrerequisites(purpose)) return false;
  try {
    build({ shimOnly: false });
    return true;
  } catch (thrown) {
    console.error(thrown instanceof Error ? thrown.message : String(thrown));
    return false;
  }
}
