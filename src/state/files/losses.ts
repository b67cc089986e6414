import type { Clock } from "../../base/clock.ts";
import type { Quarantined } from "./quarantine.ts";

/** By then a container whose record was lost has ended, or its DEL finds what it needs in the pod and the conf. */
const lossMsMax = 86_400_000;
/** A runtime deletes the sandboxes of the earlier boot when it starts; no other container of that boot is left. */
const afterBootMsMax = 3_600_000;

/**
 * The damage that may still concern a container of this node. A file in quarantine is evidence for people and stays;
 * without a bound one damaged byte would make every unknown container look lost for ever.
 */
export class Losses {
  readonly #damage: readonly Quarantined[];
  readonly #bootId: string;
  readonly #clock: Pick<Clock, "wallMs" | "monotonicMs">;
  readonly #openedMs: number;

  constructor(damage: readonly Quarantined[], facts: { bootId: string; clock: Pick<Clock, "wallMs" | "monotonicMs"> }) {
    this.#damage = damage;
    this.#bootId = facts.bootId;
    this.#clock = facts.clock;
    this.#openedMs = facts.clock.monotonicMs();
  }

  current(): readonly Quarantined[] {
    if (this.#damage.length === 0) return this.#damage;
    const nowMs = this.#clock.wallMs();
    const isLongBooted = this.#clock.monotonicMs() - this.#openedMs >= afterBootMsMax;
    return this.#damage.filter(({ foundWallMs, bootId }) => {
      const isOfThisBoot = bootId === undefined || bootId === this.#bootId;
      // A time in the future comes from a wrong clock that was corrected since.
      return Math.abs(nowMs - foundWallMs) < lossMsMax && (isOfThisBoot || !isLongBooted);
    });
  }
}
