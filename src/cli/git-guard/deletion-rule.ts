/** How many files one change may delete without saying so. */
export interface DeletionLimits {
  readonly filesMax: number;
  readonly percentMax: number;
}

/** From an accident that left 2 of 1,167 files; a person who deletes as many on purpose can say so. */
export const defaultDeletionLimits: DeletionLimits = { filesMax: 20, percentMax: 10 };

/** In a small repository a tenth is no file at all: so many may always go, unless they are all there are. */
const filesAlways = 3;

/** The most that may be deleted of so many files: the smaller of both limits, but not too small to work with. */
export function deletionsAllowed(files: number, { filesMax, percentMax }: DeletionLimits): number {
  const share = Math.floor((files * percentMax) / 100);
  const allowed = Math.min(filesMax, Math.max(filesAlways, share));
  // To delete everything is the accident itself; one file alone may be replaced by another.
  return files > 1 ? Math.min(allowed, files - 1) : allowed;
}
