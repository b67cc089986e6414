import { CommandFailure } from "../failure.ts";
import type { World } from "../world.ts";

/** Before anything is made or removed: halfway through it would fail with a tool's own words. */
export function requireRoot(world: Pick<World, "isRoot">): void {
  if (world.isRoot) return;
  throw new CommandFailure("not-root", "Cannot make or remove network namespaces without being root", {
    remedy: "run the same command as root",
  });
}
