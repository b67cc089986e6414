import { systemClock, type Cancel } from "../../src/base/clock.ts";
import type { TopAnswer } from "../../src/wire/top-view.ts";
import { ask } from "../../test/lab/ask.ts";
import { slotSample, slotUse, type SlotSample, type SlotUse } from "./idle-slots.ts";

/** An answer takes the daemon a few milliseconds in which it serves no pod, so more often would be felt. */
const everyMs = 250;

/** Asks a Levee during a storm what its slots do. */
export class SlotWatch {
  readonly #socketDir: string;
  readonly #samples: SlotSample[] = [];
  readonly #cancel: Cancel;
  #isAsking = false;

  constructor(socketDir: string) {
    this.#socketDir = socketDir;
    this.#cancel = systemClock.every(everyMs, () => void this.#look());
  }

  stop(): SlotUse | undefined {
    this.#cancel();
    return slotUse(this.#samples);
  }

  /** One question at a time: a daemon that is slow to answer is not asked again meanwhile. */
  async #look(): Promise<void> {
    if (this.#isAsking) return;
    this.#isAsking = true;
    try {
      this.#samples.push(slotSample(await ask<TopAnswer>(this.#socketDir, { ask: "top" })));
    } catch {
      // A daemon that is not there has no slots; the verdicts say whether it was killed.
    } finally {
      this.#isAsking = false;
    }
  }
}
