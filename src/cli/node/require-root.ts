import { CommandFailure } from "../failure.ts";
import type { Shell } from "../shell.ts";

/** Checked before anything is made or removed; otherwise a tool would fail half-way with its own message. */
export function requireRoot(shell: Pick<Shell, "isRoot">): void {
  if (shell.isRoot) return;
  throw new CommandFailure("not-root", "Cannot make or remove network namespaces: this needs root", {
    remedy: "run the same command as root",
  });
}
