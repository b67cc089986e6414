import { disk } from "./disk/disk.ts";
import { dirname } from "node:path";

/** The only doorway for writing whole files: readers see the old content or the new, never a part. */
export async function writeFileAtomically(
  path: string,
  content: string | Uint8Array,
  options: AtomicOptions,
): Promise<void> {
  if (options.sync) await writePartsAtomically(path, [content], options);
  else writeIntoCache(path, content, { ...options, temporary: options.temporary ?? `${path}.tmp` });
}

/** The same for a file that is too long for memory. It is synced, and `parts` is not asked before the file is open. */
export async function writePartsAtomically(
  path: string,
  parts: Iterable<string | Uint8Array>,
  options: Omit<AtomicOptions, "sync">,
): Promise<void> {
  const temporary = options.temporary ?? `${path}.tmp`;
  try {
    const file = await disk.open(temporary, "w", options.mode);
    try {
      for (const part of parts) await file.appendFile(part);
      if (options.exactMode === true) await file.chmod(options.mode);
      await file.sync();
    } finally {
      await file.close();
    }
    await disk.rename(temporary, path);
  } catch (cause) {
    // A full disk must not leave half a file behind; the first error is the one that matters.
    await disk.unlink(temporary).catch(() => undefined);
    throw cause;
  }
  await syncFolder(dirname(path));
}

/** The page cache takes a file within microseconds. A thread for each call would cost ten times as much. */
function writeIntoCache(
  path: string,
  content: string | Uint8Array,
  { temporary, mode, exactMode }: AtomicOptions & { readonly temporary: string },
): void {
  try {
    const file = disk.openSync(temporary, "w", mode);
    try {
      disk.writeFileSync(file, content);
      if (exactMode === true) disk.fchmodSync(file, mode);
    } finally {
      disk.closeSync(file);
    }
    disk.renameSync(temporary, path);
  } catch (cause) {
    removeQuietly(temporary);
    throw cause;
  }
}

/** A full disk must not leave half a file behind; the first error is the one that matters. */
function removeQuietly(path: string): void {
  try {
    disk.unlinkSync(path);
  } catch {
    // The file may not exist.
  }
}

interface AtomicOptions {
  readonly mode: number;
  /** Whether to set the mode in spite of the process's umask. */
  readonly exactMode?: boolean;
  /** Whether the content must survive a crash of the machine, not only of the process. */
  readonly sync: boolean;
  /** Where the content is written first; on the same file system. Defaults to the path plus `.tmp`. */
  readonly temporary?: string;
}

/** Makes a creation, rename or removal inside `folder` durable. */
export async function syncFolder(folder: string): Promise<void> {
  const handle = await disk.open(folder, "r");
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
