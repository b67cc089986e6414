import { link, rename, rm } from "node:fs/promises";
import { join } from "node:path";
import { syncFolder, writeFileAtomically } from "../../base/atomic-file.ts";
import { installFailure, isShimProgram, readProgram, shimName, temporaryName, type InstallShell } from "./install.ts";

export const passthruName = "passthru";

/** The plugin that starts auxiliary chains. It is the shim under another name. */
export interface InstalledPassthru {
  readonly file: string;
  /** left-alone: another program has this name, such as the one that Multus ships. */
  readonly state: "installed" | "already-installed" | "left-alone";
}

export async function installPassthru(
  shell: InstallShell,
  dest: string,
  content: Uint8Array,
): Promise<InstalledPassthru> {
  const file = join(dest, passthruName);
  try {
    const there = await readProgram(file);
    if (there === "other" || (there !== undefined && !isShimProgram(there))) return { file, state: "left-alone" };
    if (there?.equals(content) === true) return { file, state: "already-installed" };
    const fresh = temporaryName(shell, dest);
    try {
      await linkOrCopy(join(dest, shimName), fresh, content);
      await rename(fresh, file);
      await syncFolder(dest);
    } finally {
      await rm(fresh, { force: true });
    }
    return { file, state: "installed" };
  } catch (thrown) {
    throw installFailure(thrown, dest);
  }
}

/** Links the file if the file system allows it, so that the second name costs no space. */
async function linkOrCopy(from: string, to: string, content: Uint8Array): Promise<void> {
  try {
    await link(from, to);
  } catch {
    await writeFileAtomically(to, content, { mode: 0o755, exactMode: true, sync: true });
  }
}
