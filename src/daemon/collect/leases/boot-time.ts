import { readFile } from "node:fs/promises";
import { LeveeError } from "../../../base/errors.ts";

const statFile = "/proc/stat";

/**
 * When this boot began, by the wall clock as it is set now: the kernel moves its answer along when somebody sets the
 * clock, so it is asked each time.
 */
export async function bootWallMs(): Promise<number> {
  return bootWallMsIn(await readFile(statFile, "utf8"));
}

export function bootWallMsIn(stat: string): number {
  const seconds = /^btime (\d+)$/mu.exec(stat)?.[1];
  if (seconds === undefined)
    throw new LeveeError("io-failed", `Cannot read when this boot began: ${statFile} has no btime`);
  return Number(seconds) * 1_000;
}
