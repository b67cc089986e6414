import { AttachmentGc } from "./collect/attachment-gc.ts";
import { registerGarbage } from "./collect/garbage-checks.ts";
import { Gc } from "./collect/gc.ts";
import { OrphanLeases } from "./collect/leases/orphan-leases.ts";
import { MissingNetworksWatch } from "./collect/missing-networks-watch.ts";
import { SelfGc } from "./collect/self-gc.ts";
import { UndoDead } from "./collect/undo-dead.ts";
import type { Ground } from "./compose-ground.ts";
import type { UndoParts } from "./compose-undo.ts";
import type { LeaseCountView } from "../wire/node-holds.ts";
import type { Service } from "./service.ts";

/** Garbage collection: the verb GC, and the daemon's own rounds. */
export interface CollectParts {
  readonly gc: Gc;
  readonly selfGc: SelfGc;
  /** Addresses that host-local held at the last look; undefined before it. */
  readonly leaseCounts: () => readonly LeaseCountView[] | undefined;
  /** Shows what the rounds find, and starts them. */
  start(): Service;
}

export function composeCollect(ground: Ground, undo: UndoParts): CollectParts {
  const dead = new UndoDead({ ...ground, ...undo });
  const attachments = new AttachmentGc({ ...ground, ...undo, dead });
  const leases = new OrphanLeases(ground);
  const missing = new MissingNetworksWatch(ground);
  const resident = (): ReturnType<UndoParts["residents"]["hand"]> => undo.residents.hand();
  const selfGc = new SelfGc({ ...ground, resident, attachments, leases, missing });
  return {
    gc: new Gc({ ...ground, dead }),
    selfGc,
    leaseCounts: () => leases.counts,
    start: () => {
      const found = { orphans: () => leases.orphans, missing: () => missing.missing, rooms: () => leases.rooms };
      registerGarbage(found, ground);
      return selfGc.start();
    },
  };
}
