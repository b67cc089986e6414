import type { Clock } from "../../base/clock.ts";
import { errorCatalogue, LeveeError, toLeveeError } from "../../base/errors.ts";
import type { Logger } from "../../base/log.ts";
import { supportsVerb } from "../../cni/cni-version.ts";
import type { DaemonConfig } from "../../config/daemon-config.ts";
import { effectiveNetConf } from "../../config/net-conf.ts";
import { runForNetwork } from "../../hands/run-chain.ts";
import type { View } from "../../view/view.ts";
import type { ConfCache } from "../look-up/conf-cache.ts";
import { primaryNetwork } from "../look-up/networks.ts";
import type { Call } from "../serve/call.ts";
import { silence, type Reply } from "../serve/reply.ts";
import { networkChain, networkPlace } from "./ask-network.ts";

/** Runtimes ask every few seconds and hold a lock meanwhile, so the primary network's plugins get little time. */
const statusMsMax = 2_000;

interface StatusNeeds {
  readonly clock: Clock;
  readonly config: DaemonConfig;
  readonly logger: Logger;
  readonly view: View;
  readonly confs: ConfCache;
}

/**
 * The verb STATUS: whether this node may take pods. It fails only without a primary network, or when that network's own
 * plugins fail it. Kubelet then takes the node out of service, so overload, a full disk or a distant API server never
 * fail it.
 */
export class StatusVerb {
  readonly #needs: StatusNeeds;

  constructor(needs: StatusNeeds) {
    this.#needs = needs;
  }

  async serve(call: Call): Promise<Reply> {
    const { clock, config } = this.#needs;
    const conf = effectiveNetConf(await call.config(), config);
    const source = await primaryNetwork(conf, this.#needs).catch((thrown: unknown) => this.#unlessUnseen(thrown));
    if (source !== undefined && supportsVerb(source.conf.cniVersion, "STATUS")) {
      const chain = networkChain(source.network, source.conf);
      const place = networkPlace(call, clock, { binDir: config.binDir, limitMs: statusMsMax });
      await runForNetwork(call.hand, "STATUS", chain, place).catch((thrown: unknown) => this.#unlessPressure(thrown));
    }
    return silence;
  }

  /** Before the first complete list, a definition that was not found may still exist on the API server. */
  #unlessUnseen(thrown: unknown): undefined {
    const { live } = this.#needs.view;
    const isUnseen = thrown instanceof LeveeError && thrown.code === "network-unknown" && live?.isSynced() === false;
    if (!isUnseen) asNotReady(thrown);
  }

  /**
   * A plugin that was too slow, or killed for memory, shows a node under pressure, not an absent primary network. Taking
   * the node out of service would make it worse.
   */
  #unlessPressure(thrown: unknown): void {
    const error = toLeveeError(thrown, "Cannot ask the primary network");
    if (error.code !== "delegate-timeout" && error.code !== "delegate-oom") asNotReady(error);
    this.#needs.logger.warn(
      "The primary network did not answer STATUS; the daemon takes this for pressure and reports ready",
      {
        reason: error.message,
      },
    );
  }
}

/** A plugin's own code (50, 51) is passed on; every other error of the primary network means "not available". */
function asNotReady(thrown: unknown): never {
  const error = toLeveeError(thrown, "Cannot ask the primary network");
  const isOwn = error.code === "delegate-failed" && error.cniCode !== errorCatalogue["delegate-failed"].cni;
  if (isOwn || error.code === "not-ready" || error.code === "hand-lost") throw error;
  throw new LeveeError("not-ready", error.message, { cause: thrown, details: error.details });
}
