import type { Cancel, Clock } from "../../base/clock.ts";
import { toLeveeError } from "../../base/errors.ts";
import type { Logger } from "../../base/log.ts";
import type { Hand } from "../../hands/hand.ts";
import type { RebootSince } from "../../state/reboot-since.ts";
import type { MetricsRegistry } from "../metrics/metrics-registry.ts";
import type { Service } from "../service.ts";

/** Reboots are planned by the day, so a minute is soon enough. */
const lookMs = 60_000;
/** How soon a new hand is asked. */
const tickMs = 5_000;
/** Debian and Ubuntu write `reboot-required`, openSUSE `reboot-needed`. */
const folder = "/run";
const sentinels: ReadonlySet<string> = new Set(["reboot-required", "reboot-needed"]);
/** The listing starts after this name; both sentinels follow right away. */
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
 * Watches whether the node itself needs a reboot, and since when; kured may see the reboot gate's answer instead. The
 * resident hand looks, so that the daemon needs no mount of the host's /run, which contains the runtime's socket.
 */
export class RebootWatch implements Service {
  readonly #options: RebootWatchOptions;
  readonly #stop: Cancel;
  /** Undefined before the first successful look. */
  #isRequired: boolean | undefined;
  #sinceWallMs: number | undefined;
  #lookedMs = Number.NEGATIVE_INFINITY;
  #isLooking = false;

  constructor(options: RebootWatchOptions) {
    this.#options = options;
    const { clock, metrics, nodeName: node } = options;
    metrics.gauge("levee_node_reboot_required", "1 when the node itself needs a reboot", () =>
      this.#isRequired === undefined ? [] : [{ labels: { node }, value: this.#isRequired ? 1 : 0 }],
    );
    metrics.gauge(
      "levee_node_reboot_required_since_timestamp_seconds",
      "Since when the node needs a reboot, in seconds since 1970",
      () => (this.#sinceWallMs === undefined ? [] : [{ labels: { node }, value: this.#sinceWallMs / 1_000 }]),
    );
    this.#stop = clock.every(tickMs, () => void this.look());
  }

  stop(): void {
    this.#stop();
  }

  /** Asks the hand if a look is due. */
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
      // The last answer stays; another check reports a lost hand.
      const { message } = toLeveeError(thrown, "Looking for a reboot mark");
      this.#options.logger.debug("Cannot tell whether the node needs a reboot", { reason: message });
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
