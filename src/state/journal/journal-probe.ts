import { disk } from "../../base/disk/disk.ts";
import { join } from "node:path";
import { writeFileAtomically } from "../../base/atomic-file.ts";
import { unwritable } from "../files/log-file.ts";
import type { OpenedJournal } from "./journal-open.ts";

/** One disk block. */
const probeBytes = 4_096;

/** Writes as the next ADD would, after bringing the disk up to what memory says. */
export async function probeJournal(stateDir: string, { writer, log, reserve }: OpenedJournal): Promise<void> {
  const probe = join(stateDir, "probe");
  try {
    await writer.exclusive(async () => {
      await log.checkPlace();
      await writer.catchUp();
      await reserve.take();
      await writeFileAtomically(probe, Buffer.alloc(probeBytes, 1), { mode: 0o600, sync: false });
      await disk.unlink(probe);
    });
  } catch (cause) {
    throw unwritable(stateDir, cause);
  }
}

export function glanceAtJournal(stateDir: string, { log }: OpenedJournal): void {
  try {
    log.glance();
  } catch (cause) {
    throw unwritable(stateDir, cause);
  }
}
