import { stat } from "node:fs/promises";
import type { Lab } from "./lab.ts";

/**
 * Deletes a namespace and makes another one with the same path and the same inode number, as `ip netns` does within
 * moments. Tests beside this one may take the number away, so it tries until the kernel gives it out again.
 */
export async function recycleNetns(lab: Lab, path: string, name: string): Promise<void> {
  const { ino } = await stat(path);
  lab.deleteNetns(path);
  await lab.until(
    "the kernel uses the number again",
    async () => {
      lab.netns(name);
      if ((await stat(path)).ino === ino) return true;
      lab.deleteNetns(path);
      return undefined;
    },
    40_000,
  );
}
