import { disk } from "../../base/disk/disk.ts";
import { join } from "node:path";
import { errnoOf } from "../../base/errors.ts";

/** One file of the ring. Files are numbered, so that their order survives a clock that is set back. */
export interface RecorderSegment {
  readonly number: number;
  readonly path: string;
}

/**
 * Few enough to list at each start. The oldest file is dropped as a whole, so at least three quarters always remain.
 */
export const segmentCount = 4;

const namePattern = /^flight\.(\d{8})\.log$/;

export function recorderFolder(stateDir: string): string {
  return join(stateDir, "recorder");
}

export function segmentOf(folder: string, number: number): RecorderSegment {
  return { number, path: join(folder, `flight.${String(number).padStart(8, "0")}.log`) };
}

/** Oldest first; empty without the folder. */
export function listSegments(folder: string): readonly RecorderSegment[] {
  let names: readonly string[];
  try {
    names = disk.readdirSync(folder);
  } catch (cause) {
    if (errnoOf(cause) === "ENOENT") return [];
    throw cause;
  }
  return names
    .flatMap((name) => {
      const number = namePattern.exec(name)?.[1];
      return number === undefined ? [] : [segmentOf(folder, Number(number))];
    })
    .toSorted((left, right) => left.number - right.number);
}
