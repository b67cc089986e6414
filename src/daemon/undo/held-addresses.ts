import { join } from "node:path";
import { readHostFolder } from "../../hands/host-folder.ts";
import type { Hand } from "../../hands/hand.ts";
import { leaseOf, type Lease } from "../../hands/lease.ts";
import type { AttachmentKey } from "../../state/journal/attachment-record.ts";

/** A folder with one file per address. */
type LeasePlace = Pick<Lease, "dataDir" | "network">;

interface Look {
  readonly running: Promise<readonly Lease[]>;
  /** For the calls that came after `running` had begun, because its list may be older than they are. */
  next?: Promise<readonly Lease[]>;
}

/** Finds the address of a container. However many calls ask, one folder is read at most once at a time. */
export class HeldAddresses {
  readonly #looks = new Map<string, Look>();

  async find(hand: Hand, place: LeasePlace, { containerId, ifname }: AttachmentKey): Promise<string | undefined> {
    const leases = await this.#share(join(place.dataDir, place.network), (folder) => read(hand, folder, place));
    // Old versions of host-local name no interface.
    const isOwn = (lease: Lease): boolean => lease.containerId === containerId && ["", ifname].includes(lease.ifname);
    return leases.find(isOwn)?.address;
  }

  #share(folder: string, look: (folder: string) => Promise<readonly Lease[]>): Promise<readonly Lease[]> {
    const known = this.#looks.get(folder);
    if (known === undefined) return this.#begin(folder, look);
    const again = (): Promise<readonly Lease[]> => this.#begin(folder, look);
    return (known.next ??= known.running.then(again, again));
  }

  #begin(folder: string, look: (folder: string) => Promise<readonly Lease[]>): Promise<readonly Lease[]> {
    const mine: Look = { running: look(folder) };
    this.#looks.set(folder, mine);
    const forget = (): void => {
      if (mine.next === undefined) this.#looks.delete(folder);
    };
    mine.running.then(forget, forget);
    return mine.running;
  }
}

async function read(hand: Hand, folder: string, place: LeasePlace): Promise<readonly Lease[]> {
  return (await readHostFolder(hand, folder, (file) => leaseOf(file, place))) ?? [];
}
