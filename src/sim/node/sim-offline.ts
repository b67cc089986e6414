import { join } from "node:path";
import { crc32 } from "../../state/files/crc32.ts";
import { offlineFolderOf } from "../../state/journal/offline-records.ts";
import type { SimProcess } from "../time/sim-process.ts";
import type { SimNode } from "./sim-node.ts";

/** Writes a record for a daemon that is away, as the shim does: temporary file, sync, rename, sync of the folder. */
export async function writeOffline(
  node: Pick<SimNode, "files" | "stateDir">,
  process: SimProcess,
  name: string,
  frames: readonly Uint8Array[],
): Promise<boolean> {
  const { files } = node;
  const folder = offlineFolderOf(node.stateDir);
  const content = Buffer.concat(frames);
  const sum = Buffer.alloc(4);
  sum.writeUInt32LE(crc32(content));
  const whole = Buffer.concat([content, sum]);
  const temporary = join(folder, `.shim-${Math.floor(process.random() * 1_000_000)}.tmp`);
  const sync = async (): Promise<void> => {
    const { ms, error } = files.nextSync();
    await process.sleep(ms);
    if (error !== undefined) throw error;
  };
  try {
    files.makeFolder(folder);
    const inode = files.create(temporary);
    for (let done = 0; done < whole.length;) done += files.write(inode, whole.subarray(done), done);
    const endSync = inode.beginSync();
    await sync();
    if (!files.trouble.isLying) endSync(true);
    files.rename(temporary, join(folder, name));
    await sync();
    files.syncFolder(folder);
    return true;
  } catch {
    // As the shim: the runtime hears that the call failed, and asks again.
    if (files.find(temporary) !== undefined) files.unlink(temporary);
    return false;
  }
}
