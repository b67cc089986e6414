import { join } from "node:path";
import { toLeveeError } from "../../../base/errors.ts";
import type { Logger } from "../../../base/log.ts";
import type { Hand } from "../../../hands/hand.ts";
import type { Lease } from "../../../hands/lease.ts";
import type { GcFinding } from "../../../wire/node-view.ts";
import { leaseFinding } from "./leases.ts";

interface SpentNeeds {
  readonly bootWallMs: () => Promise<number>;
  readonly logger: Logger;
  /** Otherwise they are only found. */
  readonly isActing: boolean;
}

const why = "the file is empty and older than this boot";

/**
 * Frees addresses of an earlier boot whose file is empty. host-local does not sync its files, so a power cut leaves some
 * without their content, and host-local cannot free these: it searches for a name. No container of that boot lives.
 */
export async function freeSpent(
  hand: Hand,
  orphans: readonly Lease[],
  needs: SpentNeeds,
): Promise<ReadonlyMap<Lease, GcFinding>> {
  const spent = hand.supports("remove") ? await spentAmong(orphans, needs) : [];
  const findings = new Map<Lease, GcFinding>();
  for (const some of Map.groupBy(spent, folderOf).values()) {
    let failure = "";
    for (const lease of some) {
      // A lock that cannot be had for one address cannot be had for the next.
      if (needs.isActing && failure === "") failure = await tryToFree(hand, lease, needs.logger);
      const action = !needs.isActing ? "release" : failure === "" ? "released" : "failed";
      findings.set(lease, leaseFinding(lease, why, action, failure));
    }
  }
  return findings;
}

async function spentAmong(orphans: readonly Lease[], { bootWallMs }: SpentNeeds): Promise<readonly Lease[]> {
  const blank = orphans.filter(({ isBlank }) => isBlank);
  if (blank.length === 0) return blank;
  const bootedWallMs = await bootWallMs();
  return blank.filter(({ changedWallMs }) => changedWallMs < bootedWallMs);
}

/** Why it could not be freed; empty when it was. */
async function tryToFree(hand: Hand, lease: Lease, logger: Logger): Promise<string> {
  const { network, address } = lease;
  try {
    await freeBlank(hand, lease);
    logger.info("An address of an earlier boot was freed, as its file had lost its content", { network, address });
    return "";
  } catch (thrown) {
    if (hand.isLost) throw thrown;
    const reason = toLeveeError(thrown, "Cannot free the address").message;
    logger.warn("An address of an earlier boot could not be freed; the next round tries again", {
      network,
      address,
      reason,
    });
    return reason;
  }
}

/**
 * Frees an address whose file is empty. host-local holds its lock from before it makes a file until the content is in it.
 * So what is empty while the hand has the lock stays empty, and the ADD that made it has failed. Nothing else proves that:
 * a file of this boot looks older than the boot once somebody has set the clock forward.
 */
export async function freeBlank(hand: Hand, lease: Lease): Promise<void> {
  const folder = folderOf(lease);
  await hand.remove({
    path: join(folder, lease.address),
    changedWallMs: lease.changedWallMs,
    lock: join(folder, "lock"),
  });
}

function folderOf({ dataDir, network }: Lease): string {
  return join(dataDir, network);
}
