import { build } from "./build.ts";
import { ensurePrerequisites, type Purpose } from "./prerequisites.ts";

/** Sees to what the machine needs, and builds what has changed. False when that failed; the reason is printed. */
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
