import type { ContainerId, IfName, JsonText } from "../../base/brand.ts";
import { toLeveeError } from "../../base/errors.ts";
import type { Logger } from "../../base/log.ts";
import { planAttachments } from "../../attachment/plan.ts";
import type { Chain } from "../../cni/chain.ts";
import { podArgs, type CniArgs } from "../../cni/cni-args.ts";
import type { DaemonConfig } from "../../config/daemon-config.ts";
import { effectiveNetConf } from "../../config/net-conf.ts";
import type { AttachmentRecord } from "../../state/journal/attachment-record.ts";
import type { Journal } from "../../state/journal/journal.ts";
import { hasMultusFile, readMultusRecord } from "../../state/multus/multus-cache.ts";
import type { View } from "../../view/view.ts";
import type { ConfCache } from "../look-up/conf-cache.ts";
import { resolveNetworks } from "../look-up/networks.ts";
import { requestOf } from "../look-up/pod-request.ts";
import { recordedPod } from "../record/subject.ts";
import type { NetnsNow } from "./netns-to-pass.ts";

/** A container that a DEL names and the journal has no record of. */
export interface LostContainer {
  readonly containerId: ContainerId;
  readonly ifname: IfName;
  readonly args: CniArgs;
  readonly cniPath: string;
  readonly now: NetnsNow;
  /** The call's configuration, asked for only when the record must be rebuilt. */
  readonly config: () => Promise<JsonText>;
}

export interface LostRecordsNeeds {
  readonly config: DaemonConfig;
  readonly logger: Logger;
  readonly journal: Pick<Journal, "knows">;
  readonly view: View;
  readonly confs: ConfCache;
}

/** Finds a record that the journal does not have. */
export class LostRecords {
  readonly #needs: LostRecordsNeeds;

  constructor(needs: LostRecordsNeeds) {
    this.#needs = needs;
  }

  /**
   * Whether anything of the container may be on this node. Multus' files also hold copies of Levee's attachments, so a
   * file about another interface of the container does not count.
   */
  async mayExist({ containerId, ifname }: LostContainer): Promise<boolean> {
    const { journal, config } = this.#needs;
    const knowledge = journal.knows(containerId);
    if (knowledge !== "never-added") return knowledge === "lost";
    if (!(await hasMultusFile(config.cniDir, containerId))) return false;
    // A file that cannot be read may be about any interface.
    const record = await readMultusRecord(config.cniDir, containerId).catch(() => undefined);
    return record === undefined || record.ifname === ifname;
  }

  /** Reads Multus' cache, else plans again as ADD would today. */
  async find(container: LostContainer): Promise<AttachmentRecord | undefined> {
    return (await this.#fromMultus(container)) ?? (await this.#workOut(container));
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

  async #workOut(container: LostContainer): Promise<AttachmentRecord | undefined> {
    const { config, view, confs, logger } = this.#needs;
    const { namespace, name, uid } = podArgs(container.args);
    try {
      const pod = namespace === undefined || name === undefined ? undefined : await view.findPod(namespace, name);
      const isSamePod = pod !== undefined && (uid === undefined || pod.uid === "" || pod.uid === uid);
      if (name !== undefined && !isSamePod) return undefined;
      const conf = effectiveNetConf(await container.config(), config);
      const networks = await resolveNetworks(await requestOf(pod, view), conf, { view, confs });
      const chains = planAttachments({ request: container, ...networks, runtimeConfig: conf.runtimeConfig });
      return recordFor(container, chains, conf.cniVersion);
    } catch (thrown) {
      logger.warn("A lost record could not be rebuilt", {
        container: container.containerId,
        reason: toLeveeError(thrown, "Rebuild").message,
      });
      return undefined;
    }
  }
}

function recordFor(container: LostContainer, chains: readonly Chain[], cniVersion: string): AttachmentRecord {
  return {
    token: "",
    containerId: container.containerId,
    ifname: container.ifname,
    netns: { path: container.now.path, identity: undefined },
    bootId: "",
    pod: recordedPod(container.args),
    cniPath: container.cniPath,
    cniVersion,
    hand: undefined,
    startedWallMs: 0,
    chains,
    phase: "acknowledged",
    steps: new Map(),
    results: [],
    failure: undefined,
    delAttempts: 0,
    origin: "levee",
  };
}
