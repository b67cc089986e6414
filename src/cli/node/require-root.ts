import { CommandFailure } from "../failure.ts";
import type { Shell } from "../shell.ts";

/** Before anything is made or removed: halfway through it would fail with a tool's own words. */
export function requireRoot(shell: Pick<Shell, "isRoot">): void {
  if (shell.isRoot) return;
  throw new CommandFailure("not-root", "Cannot make or remove network namespaces without being root", {
    remedy: "run the same command as root",
  });
}
