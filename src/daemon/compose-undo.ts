import type { Ground } from "./compose-ground.ts";
import { Afterwork } from "./tell/afterwork.ts";
import { Delivered } from "./undo/delivered.ts";
import { Leaks } from "./undo/leaks.ts";
import { LostRecords } from "./undo/lost-records.ts";
import { OfflineFolder } from "./undo/offline-folder.ts";
import { RebuildRecord } from "./undo/rebuild-record.ts";
import { RecoverItem } from "./undo/recover-item.ts";
import { Recovery } from "./undo/recovery.ts";
import { Residents } from "./undo/residents.ts";
import { LeakRetries } from "./undo/retry-leaks.ts";
import { Suspects } from "./undo/suspects.ts";
import { Signs } from "./undo/signs.ts";
import { TakenNames } from "./undo/taken-names.ts";
import { HeldAddresses } from "./undo/held-addresses.ts";
import { Leftovers } from "./undo/leftovers.ts";
import { Undo } from "./undo/undo.ts";
import { UndoUnknown } from "./undo/undo-unknown.ts";

/** The parts that undo attachments. */
export type UndoParts = ReturnType<typeof composeUndo>;

export function composeUndo(ground: Ground) {
  const { bootId, clock, config, journal, logger } = ground;
  const names = new TakenNames(ground);
  const residents = new Residents(clock);
  const suspects = new Suspects(bootId, residents);
  const offline = new OfflineFolder({ stateDir: config.stateDir, clock, logger, journal });
  const leaks = new Leaks(ground);
  // Recovery needs undo, undo needs afterwork, and afterwork asks recovery: the arrow function closes the circle later.
  const afterwork = new Afterwork({ ...ground, isPending: (token) => recovery.isPending(token) });
  const addresses = new HeldAddresses();
  const leftovers = new Leftovers({ ...ground, residents, addresses });
  const traced = ground.tracedDoors?.undoJournal(journal) ?? journal;
  const undo = new Undo({ ...ground, journal: traced, suspects, leaks, leftovers, afterwork, offline });
  const lost = new LostRecords({ ...ground, rebuilder: new RebuildRecord(ground) });
  const signs = new Signs({ ...ground, residents, addresses });
  const unknown = new UndoUnknown({ ...ground, offline, lost, signs, undo, leaks });
  const delivered = new Delivered(ground);
  const item = new RecoverItem({ ...ground, delivered, suspects, offline, undo, unknown });
  const retries = new LeakRetries({ ...ground, suspects, undo });
  const recovery = new Recovery({ ...ground, residents, offline, suspects, item, leaks: retries });
  return { names, suspects, residents, offline, afterwork, leaks, undo, unknown, recovery };
}
