import { stat } from "node:fs/promises";
import type { Lab } from "./lab.ts";

/**
 * Deletes a namespace and puts another one with its inode number at its path, as `ip netns` does within moments.
 * Undefined when a test beside this one has taken the number.
 */
export async function recycleNetns(lab: Lab, path: string): Promise<true | undefined> {
  const { ino } = await stat(path);
  const name = path.slice(path.lastIndexOf("/") + 1);
  lab.deleteNetns(path);
  // The kernel gives out the lowest free number, and this one is free only when the old namespace has been taken down.
  const made: string[] = [];
  try {
    for (let tried = 0; tried < 30; tried += 1) {
      const candidate = lab.netns(`r${name.slice(-3)}x${tried}`);
      made.push(candidate);
      if ((await stat(candidate)).ino === ino) {
        await lab.bindNetns(candidate, path);
        return true;
      }
      // A busy kernel needs seconds to take a namespace down, and each further one is work for it.
      await new Promise((resolve) => setTimeout(resolve, tried * 20));
    }
    return undefined;
  } finally {
    for (const each of made) lab.deleteNetns(each);
  }
}
