import type { Cancel, Clock } from "../../base/clock.ts";
import { toLeveeError } from "../../base/errors.ts";
import type { Logger } from "../../base/log.ts";
import type { Hand } from "../../hands/hand.ts";
import type { RebootSince } from "../../state/reboot-since.ts";
import type { MetricsRegistry } from "../metrics/metrics-registry.ts";
import type { Service } from "../service.ts";

/** A day is what matters; a minute is soon enough. */
const lookMs = 60_000;
/** How soon a hand that has just come is asked. */
const tickMs = 5_000;
/** Where distributions leave word: Debian and Ubuntu the one, openSUSE the other. */
const folder = "/run";
const sentinels: ReadonlySet<string> = new Set(["reboot-required", "reboot-needed"]);
/** Names before it are not listed; both sentinels come right after. */
const before = "reboot-";

interface RebootWatchOptions {
  readonly clock: Clock;
  readonly logger: Logger;
  readonly metrics: MetricsRegistry;
  readonly nodeName: string;
  readonly resident: () => Hand | undefined;
  readonly since: RebootSince;
}

/**
 * Whether the node itself wants a reboot, and since when: what kured is told may be what a gate before it says. The
 * resident hand looks, so that the daemon needs none of the host's /run, where the runtime's socket is.
 */
export class RebootWatch implements Service {
  readonly #options: RebootWatchOptions;
  readonly #stop: Cancel;
  /** Undefined before the first look that came through. */
  #isRequired: boolean | undefined;
  #sinceWallMs: number | undefined;
  #lookedMs = Number.NEGATIVE_INFINITY;
  #isLooking = false;

  constructor(options: RebootWatchOptions) {
    this.#options = options;
    const { clock, metrics, nodeName: node } = options;
    metrics.gauge("levee_node_reboot_required", "1 when the node itself wants a reboot", () =>
      this.#isRequired === undefined ? [] : [{ labels: { node }, value: this.#isRequired ? 1 : 0 }],
    );
    metrics.gauge("levee_node_reboot_required_since_timestamp_seconds", "Since when, since 1970", () =>
      this.#sinceWallMs === undefined ? [] : [{ labels: { node }, value: this.#sinceWallMs / 1_000 }],
    );
    this.#stop = clock.every(tickMs, () => void this.look());
  }

  stop(): void {
    this.#stop();
  }

  /** Asks the hand when it is time to. */
  async look(): Promise<void> {
    const { clock, resident } = this.#options;
    const hand = resident();
    const isDue = clock.monotonicMs() - this.#lookedMs >= lookMs;
    if (hand === undefined || this.#isLooking || !isDue || !hand.supports("list")) return;
    this.#lookedMs = clock.monotonicMs();
    this.#isLooking = true;
    try {
      await this.#lookWith(hand);
    } catch (thrown) {
      // The last answer stands; a hand that went away is missed elsewhere.
      const { message } = toLeveeError(thrown, "The look for a wanted reboot");
      this.#options.logger.debug("Cannot tell whether the node wants a reboot", { reason: message });
    } finally {
      this.#isLooking = false;
    }
  }

  async #lookWith(hand: Hand): Promise<void> {
    const { since, clock } = this.#options;
    const page = await hand.list(folder, before);
    const found = page?.entries.filter(({ name }) => sentinels.has(name)) ?? [];
    if (found.length === 0) {
      if (this.#isRequired !== false) await since.forget();
      this.#sinceWallMs = undefined;
      this.#isRequired = false;
      return;
    }
    if (this.#sinceWallMs === undefined) {
      const kept = await since.read();
      const touched = Math.min(clock.wallMs(), ...found.map(({ changedWallMs }) => changedWallMs));
      this.#sinceWallMs = kept ?? touched;
      if (kept === undefined) await since.write(touched);
    }
    this.#isRequired = true;
  }
}
