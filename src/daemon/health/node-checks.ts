import type { Cancel, Clock } from "../../base/clock.ts";
import { toLeveeError } from "../../base/errors.ts";
import type { Logger } from "../../base/log.ts";
import { isReady, type Check } from "../../readiness/check.ts";
import type { NetworkReadiness } from "../../readiness/network-rules.ts";

/** Often enough that a log shows when something began, seldom enough to cost nothing. */
const watchMs = 10_000;

/**
 * All checks of this node. Each part of the daemon that knows something adds its own; `/readyz`, `/nodez` and
 * `levee check node` read them together, and every change is logged once.
 */
export class NodeChecks {
  readonly #readers: (() => readonly Check[])[] = [];
  readonly #states = new Map<string, Check["state"]>();
  /** Which networks can be attached here; set by whoever looks. */
  networks: () => readonly NetworkReadiness[] = () => [];
  /** How long ago somebody looked; undefined when nobody has. */
  networksAgeMs: () => number | undefined = () => undefined;

  /** `read` answers from memory: it is called for every probe. */
  add(read: () => readonly Check[]): void {
    this.#readers.push(read);
  }

  all(): readonly Check[] {
    return this.#readers.flatMap((read) => read());
  }

  get isReady(): boolean {
    return isReady(this.all());
  }

  /** Logs each check that changed since the last look. */
  watch(clock: Clock, logger: Logger): Cancel {
    return clock.every(watchMs, () => {
      try {
        this.#logChanges(logger);
      } catch (thrown) {
        logger.error("The checks of the node could not be made", { reason: toLeveeError(thrown, "Check").message });
      }
    });
  }

  #logChanges(logger: Logger): void {
    for (const { name, state, detail } of this.all()) {
      const before = this.#states.get(name) ?? "ok";
      this.#states.set(name, state);
      if (before === state) continue;
      const fields = { check: name, detail };
      if (state === "ok") logger.info("A check of the node holds again", fields);
      else logger.warn(state === "failed" ? "A check of the node fails" : "A check of the node warns", fields);
    }
  }
}
