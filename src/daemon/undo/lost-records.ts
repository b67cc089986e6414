import { toLeveeError } from "../../base/errors.ts";
import type { Logger } from "../../base/log.ts";
import type { DaemonConfig } from "../../config/daemon-config.ts";
import type { AttachmentRecord } from "../../state/journal/attachment-record.ts";
import type { Journal } from "../../state/journal/journal.ts";
import { hasMultusFile, readMultusRecord } from "../../state/multus/multus-cache.ts";
import type { LostContainer } from "./lost-container.ts";
import type { Rebuilt, RebuildRecord } from "./rebuild-record.ts";

export interface LostRecordsNeeds {
  readonly config: Pick<DaemonConfig, "cniDir">;
  readonly logger: Logger;
  readonly journal: Pick<Journal, "knows">;
  readonly rebuilder: Pick<RebuildRecord, "rebuild">;
}

/** Finds a record that the journal does not have. */
export class LostRecords {
  readonly #needs: LostRecordsNeeds;

  constructor(needs: LostRecordsNeeds) {
    this.#needs = needs;
  }

  /**
   * Whether a record of the container was lost. `never`: Levee has deleted it or refused its ADD. `unknown`: Levee has
   * never heard of it. Multus' files also hold copies of Levee's attachments, so a file about another interface of the
   * container does not count.
   */
  async isLost({ containerId, ifname }: LostContainer): Promise<"lost" | "never" | "unknown"> {
    const { journal, config } = this.#needs;
    const knowledge = journal.knows(containerId);
    if (knowledge === "live" || knowledge === "lost") return knowledge === "lost" ? "lost" : "never";
    if (await hasMultusFile(config.cniDir, containerId)) {
      // A file that cannot be read may be about any interface.
      const record = await readMultusRecord(config.cniDir, containerId).catch(() => undefined);
      return record === undefined || record.ifname === ifname ? "lost" : "never";
    }
    return knowledge === "settled" ? "never" : "unknown";
  }

  /** Reads Multus' cache, else plans again as ADD would today. */
  async find(container: LostContainer): Promise<Rebuilt | undefined> {
    const record = await this.#fromMultus(container);
    return record === undefined ? await this.#workOut(container) : { record, lack: "" };
  }

  async #fromMultus({ containerId, ifname }: LostContainer): Promise<AttachmentRecord | undefined> {
    try {
      const record = await readMultusRecord(this.#needs.config.cniDir, containerId);
      return record?.ifname === ifname ? record : undefined;
    } catch (thrown) {
      this.#needs.logger.warn("Multus' cache could not be read for a lost record", {
        container: containerId,
        reason: toLeveeError(thrown, "Reading").message,
      });
      return undefined;
    }
  }

  async #workOut(container: LostContainer): Promise<Rebuilt | undefined> {
    try {
      return await this.#needs.rebuilder.rebuild(container);
    } catch (thrown) {
      this.#needs.logger.warn("A lost record could not be rebuilt", {
        container: container.containerId,
        reason: toLeveeError(thrown, "Rebuild").message,
      });
      return undefined;
    }
  }
}
