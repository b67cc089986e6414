import { mkdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import type { GuestFile } from "./base-files.ts";

/** Puts files and links into a folder that is, or will be copied into, the guest's root. */
export function writeFiles(folder: string, files: readonly GuestFile[]): void {
  for (const file of files) {
    const path = join(folder, file.path);
    mkdirSync(dirname(path), { recursive: true });
    rmSync(path, { force: true });
    if ("linkTo" in file) symlinkSync(file.linkTo, path);
    else writeFileSync(path, file.text, { mode: file.mode ?? 0o644 });
  }
}
