import { toLeveeError } from "../../base/errors.ts";
import { isToBeCarriedOut, carryOut } from "../act/carry-out.ts";
import type { CarryOutOptions } from "../act/carry-out-options.ts";
import { isPassing } from "../act/decision-record.ts";
import type { Decision, DecisionPurpose } from "../decision/decision.ts";
import { timeMs } from "../facts/json-values.ts";

/** Whoever has approved waits no longer than this. */
const lookMs = 1_000;

interface ExecutorOptions extends CarryOutOptions {
  /** Others are left to another one. */
  readonly purpose: DecisionPurpose;
  /** Nothing is begun on a view that is too old. */
  readonly isCurrent: () => boolean;
  readonly decisions: () => readonly Decision[];
}

/**
 * Carries out what was approved of one purpose, one Decision at a time, while rounds go on beside it. A recovery may wait
 * half an hour for a person; the stop of another source does not wait for that.
 */
export class Executor {
  readonly #options: ExecutorOptions;
  #underWay: string | undefined;

  constructor(options: ExecutorOptions) {
    this.#options = options;
  }

  /** The Decision whose status only this writes meanwhile. */
  get underWay(): string | undefined {
    return this.#underWay;
  }

  /** Until the signal is aborted; rejects with its reason, or with what must end the process. */
  async run(): Promise<never> {
    const { clock, signal } = this.#options;
    for (;;) {
      await this.#look();
      await clock.sleep(lookMs, signal);
    }
  }

  async #look(): Promise<void> {
    const { isCurrent, decisions, logger } = this.#options;
    const decision = isCurrent() ? nextToCarryOut(decisions(), this.#options) : undefined;
    if (decision === undefined) return;
    const { name } = decision.metadata;
    this.#underWay = name;
    try {
      const phase = await carryOut(this.#options, decision);
      if (phase !== undefined) logger.info("a Decision is not under way any more", { name, phase });
    } catch (thrown) {
      // It is still Running under this leader, and is looked at again.
      if (!isPassing(thrown)) throw thrown;
      logger.warn("a Decision is held up", { name, error: toLeveeError(thrown, "Cannot go on").message });
    } finally {
      this.#underWay = undefined;
    }
  }
}

/** Whoever was approved first, but no recovery before the stop of its own source that was approved as well. */
export function nextToCarryOut(
  decisions: readonly Decision[],
  options: Pick<ExecutorOptions, "term" | "purpose">,
): Decision | undefined {
  const approvedMs = ({ status }: Decision): number => timeMs(status?.approval?.at);
  const ready = decisions.filter((decision) => isToBeCarriedOut(decision, options));
  const stopping = new Set(
    ready.filter(({ spec }) => spec.purpose === "StopSource").map(({ spec }) => spec.subject.namespace),
  );
  return ready
    .filter(({ spec }) => spec.purpose === options.purpose)
    .filter(({ spec }) => spec.purpose === "StopSource" || !stopping.has(spec.subject.namespace))
    .toSorted((left, right) => approvedMs(left) - approvedMs(right))[0];
}
