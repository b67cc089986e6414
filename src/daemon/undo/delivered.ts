import type { NetnsPath } from "../../base/brand.ts";
import { LeveeError } from "../../base/errors.ts";
import type { DaemonConfig } from "../../config/daemon-config.ts";
import type { Hand } from "../../hands/hand.ts";
import { runtimeResults } from "../../hands/runtime-results.ts";
import type { AttachmentRecord } from "../../state/journal/attachment-record.ts";

/** File systems take their times from a clock that lags by a tick. An earlier result of the container is older than this. */
const fileTimeLagMs = 1_000;

interface DeliveredNeeds {
  readonly config: Pick<DaemonConfig, "runtimeCniDir">;
}

/**
 * Whether a result reached the runtime although the journal does not say so. The acknowledgement is written without a
 * sync, so a disk error can take it away, and the container that got the network runs.
 */
export class Delivered {
  readonly #needs: DeliveredNeeds;

  constructor(needs: DeliveredNeeds) {
    this.#needs = needs;
  }

  /**
   * For an unfinished record whose namespace lives. True when the runtime keeps the result of this ADD: libcni writes the
   * file after it has read the whole result. Throws while the container may run without such a file, or while the hand
   * cannot look.
   */
  async find(hand: Hand, record: AttachmentRecord, netns: NetnsPath): Promise<boolean> {
    if (!hand.supports("list"))
      throw waits(record, `${hand.identity.software} is too old to look whether its container runs`);
    const hasResult = await this.#hasResult(hand, record);
    // The journal lacks the result of an intent, so that record cannot be completed.
    if (hasResult && record.phase === "intent")
      throw waits(record, "the runtime has its result, and the journal lost it");
    if (hasResult) return true;
    // The runtime may keep its results in another folder. Then only the processes tell.
    const users = (await hand.links(netns, { countsUsers: true }))?.users;
    if (users === undefined) throw waits(record, `${hand.identity.software} cannot say whether its container runs`);
    if (users > 0) throw waits(record, `${users === 1 ? "a process is" : `${users} processes are`} in its namespace`);
    return false;
  }

  async #hasResult(hand: Hand, record: AttachmentRecord): Promise<boolean> {
    const end = `-${record.containerId}-${record.ifname}`;
    const files = (await runtimeResults(hand, this.#needs.config.runtimeCniDir)) ?? [];
    return files.some(
      ({ name, changedWallMs }) => name.endsWith(end) && changedWallMs >= record.startedWallMs - fileTimeLagMs,
    );
  }
}

function waits({ containerId }: AttachmentRecord, reason: string): LeveeError {
  return new LeveeError(
    "try-later",
    `Cannot undo the unacknowledged attachment of ${containerId} while its container may run: ${reason}; the runtime's DEL or the end of the namespace removes it`,
  );
}
