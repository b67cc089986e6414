/** How many files one change may delete without a declaration. */
export interface DeletionLimits {
  readonly filesMax: number;
  readonly percentMax: number;
}

/** Chosen after an accident that left 2 of 1,167 files. A person who means to delete that many can declare it. */
export const defaultDeletionLimits: DeletionLimits = { filesMax: 20, percentMax: 10 };

/** A tenth of a small repository is less than one file, so this many may always go, unless they are all files. */
const filesAlways = 3;

/** The most files that may be deleted: the smaller of both limits, but at least `filesAlways`. */
export function deletionsAllowed(files: number, { filesMax, percentMax }: DeletionLimits): number {
  const share = Math.floor((files * percentMax) / 100);
  const allowed = Math.min(filesMax, Math.max(filesAlways, share));
  // Deleting everything is the accident itself; but a single file may be replaced by another.
  return files > 1 ? Math.min(allowed, files - 1) : allowed;
}
