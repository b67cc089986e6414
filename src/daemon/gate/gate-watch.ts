import type { Cancel, Clock } from "../../base/clock.ts";
import { toLeveeError } from "../../base/errors.ts";
import type { Logger } from "../../base/log.ts";
import { kubeStatusOf } from "../../kube/client/api.ts";
import type { GateTicketFile } from "../../state/gate-ticket.ts";
import type { MetricsRegistry } from "../metrics/metrics-registry.ts";
import type { Service } from "../service.ts";
import { GateSight, type SeenVerdict } from "./gate-sight.ts";
import type { GateSource } from "./gate-source.ts";

/** A Deny that the daemon no longer repeats is still Deny; only its reason is old then. */
const denyStandsLooks = 3;

interface GateWatchOptions {
  readonly clock: Clock;
  readonly logger: Logger;
  readonly metrics: MetricsRegistry;
  readonly nodeName: string;
  readonly source: GateSource;
  /** Undefined: this node has no ticket. */
  readonly ticket: Pick<GateTicketFile, "write"> | undefined;
  readonly lookMs: number;
}

/**
 * Closes the doors of this node's reboot gate: keeps the ticket of `levee-shim gate check` true, and sets the label of
 * Levee's pods here back to deny as soon as no verdict allows the reboot. Only the guard opens, so a dead guard leaves
 * all doors closed.
 */
export class GateWatch implements Service {
  readonly #options: GateWatchOptions;
  readonly #sight: GateSight;
  #verdict: SeenVerdict | undefined;
  #next: Cancel;
  #isStopped = false;

  constructor(options: GateWatchOptions) {
    this.#options = options;
    const { clock, metrics, nodeName: node } = options;
    this.#sight = new GateSight(clock, node);
    metrics.gauge(
      "levee_node_reboot_allowed",
      "1 while the gate lets this node be rebooted, as its daemon reads it",
      () => (this.#verdict === undefined ? [] : [{ labels: { node }, value: this.#sight.now().isAllowed ? 1 : 0 }]),
    );
    this.#next = clock.after(0, () => void this.#round());
  }

  stop(): void {
    this.#isStopped = true;
    this.#next();
  }

  /** One look. Nothing is asked while there is no ticket to write and every label says deny. */
  async look(): Promise<void> {
    const { source, ticket } = this.#options;
    if (ticket === undefined && source.openPods().length === 0) {
      this.#verdict = undefined;
      return;
    }
    await this.#read();
    this.#verdict = this.#sight.now();
    await this.#writeTicket(this.#verdict);
    if (!this.#verdict.isAllowed) await this.#closePods(this.#verdict.reason);
  }

  async #round(): Promise<void> {
    const { clock, lookMs } = this.#options;
    await this.look();
    if (this.#isStopped) return;
    // A verdict that ends before the next look closes the doors when it ends.
    const leftMs = this.#verdict?.isAllowed === true ? this.#verdict.leftMs : lookMs;
    this.#next = clock.after(Math.min(lookMs, leftMs), () => void this.#round());
  }

  async #read(): Promise<void> {
    try {
      this.#sight.saw(await this.#options.source.read());
    } catch (thrown) {
      const status = kubeStatusOf(thrown);
      const isRefused = status !== undefined && status !== 429 && status < 500;
      const { message: reason } = toLeveeError(thrown, "Reading the gate of this node");
      this.#sight.failed(reason, isRefused);
      this.#options.logger.warn("Cannot read whether this node may be rebooted", { reason });
    }
  }

  async #writeTicket({ isAllowed, reason, leftMs }: SeenVerdict): Promise<void> {
    const { ticket, lookMs, logger } = this.#options;
    try {
      await ticket?.write({ isAllowed, reason, standsMs: isAllowed ? leftMs : denyStandsLooks * lookMs });
    } catch (thrown) {
      // The old ticket expires, and then it is Deny.
      const { message } = toLeveeError(thrown, "Writing the gate's file");
      logger.error("Cannot write gateFile: this node will not be rebooted by it", { reason: message });
    }
  }

  async #closePods(why: string): Promise<void> {
    const { source, logger } = this.#options;
    for (const pod of source.openPods()) {
      const { namespace, name } = pod;
      try {
        await source.close(pod);
        logger.info("Closed the reboot gate of this node again", { namespace, pod: name, why });
      } catch (thrown) {
        // A pod that is gone bears no label; anything else is tried again at the next look.
        if (kubeStatusOf(thrown) === 404) continue;
        const { message: reason } = toLeveeError(thrown, "Closing the reboot gate");
        logger.error("Cannot close the reboot gate of this node", { namespace, pod: name, reason });
      }
    }
  }
}
