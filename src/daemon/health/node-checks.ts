import type { Cancel, Clock } from "../../base/clock.ts";
import { toLeveeError } from "../../base/errors.ts";
import type { Logger } from "../../base/log.ts";
import { isReady, type Check } from "../../readiness/check.ts";
import type { NetworkWord } from "../../wire/network-question.ts";
import type { NetworkReadiness } from "../../readiness/network-rules.ts";

/** Often enough for the log to show when a problem began. */
const watchMs = 10_000;

/**
 * All checks of this node. Each part of the daemon adds its own; `/readyz`, `/nodez` and `levee check node` read them
 * together, and every change is logged once.
 */
export class NodeChecks {
  readonly #readers: (() => readonly Check[])[] = [];
  readonly #states = new Map<string, Check["state"]>();
  /** Which networks can be attached here; set by the network watch. */
  networks: () => readonly NetworkReadiness[] = () => [];
  /** What is to be said about one of them; set by the network watch. */
  wordOn: (network: string) => NetworkWord = (network) => ({ network, state: "unknown", reasons: [], mark: "" });
  /** Age of the last look at them; undefined when there was none. */
  networksAgeMs: () => number | undefined = () => undefined;

  /** `read` must answer from memory, as every probe calls it. */
  add(read: () => readonly Check[]): void {
    this.#readers.push(read);
  }

  all(): readonly Check[] {
    return this.#readers.flatMap((read) => read());
  }

  get isReady(): boolean {
    return isReady(this.all());
  }

  watch(clock: Clock, logger: Logger): Cancel {
    return clock.every(watchMs, () => this.logChanges(logger));
  }

  /** Logs each check that changed since the last look. */
  logChanges(logger: Logger): void {
    try {
      this.#logChanges(logger);
    } catch (thrown) {
      logger.error("Cannot run the checks of the node", { reason: toLeveeError(thrown, "Check").message });
    }
  }

  #logChanges(logger: Logger): void {
    for (const { name, state, detail } of this.all()) {
      const before = this.#states.get(name) ?? "ok";
      this.#states.set(name, state);
      if (before === state) continue;
      const fields = { check: name, detail };
      if (state === "ok") logger.info("A check of the node passes again", fields);
      else logger.warn(state === "failed" ? "A check of the node fails" : "A check of the node warns", fields);
    }
  }
}
