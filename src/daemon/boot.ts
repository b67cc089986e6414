import { readFile } from "node:fs/promises";
import { LeveeError } from "../base/errors.ts";

/** One run of the machine. Processes and namespaces of an earlier one are gone. */
export interface Boot {
  readonly id: string;
  /** When it began, by the wall clock as it is set now. */
  readonly beganWallMs: () => Promise<number>;
}

const statFile = "/proc/stat";

export async function kernelBoot(): Promise<Boot> {
  const id = (await readFile("/proc/sys/kernel/random/boot_id", "utf8")).trim();
  return { id, beganWallMs: bootWallMs };
}

/**
 * When this boot began, by the wall clock as it is set now: the kernel moves its answer along when somebody sets the
 * clock, so it is asked each time.
 */
async function bootWallMs(): Promise<number> {
  return bootWallMsIn(await readFile(statFile, "utf8"));
}

export function bootWallMsIn(stat: string): number {
  const seconds = /^btime (\d+)$/mu.exec(stat)?.[1];
  if (seconds === undefined)
    throw new LeveeError("io-failed", `Cannot read when this boot began: ${statFile} has no btime`);
  return Number(seconds) * 1_000;
}
