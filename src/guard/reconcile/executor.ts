import { toLeveeError } from "../../base/errors.ts";
import { isToBeCarriedOut, carryOut } from "../act/carry-out.ts";
import type { CarryOutOptions } from "../act/carry-out-options.ts";
import { isPassing } from "../act/running-decision.ts";
import type { Decision, DecisionCause, DecisionPurpose } from "../decision/decision.ts";
import { timeMs } from "../json-values.ts";

/** The longest wait between approval and start. */
const lookMs = 1_000;

interface ExecutorOptions extends CarryOutOptions {
  /** Decisions of another purpose have their own executor. */
  readonly purpose: DecisionPurpose;
  /** Only Decisions about this cause; absent for all. */
  readonly cause?: DecisionCause;
  /** Names of the Decisions that are being carried out, of all executors: two of one lane must not take the same. */
  readonly taken?: Set<string>;
  /** Nothing starts on an outdated view. */
  readonly isCurrent: () => boolean;
  readonly decisions: () => readonly Decision[];
}

/**
 * Carries out approved Decisions of one purpose, one at a time, beside the rounds. A recovery may wait half an hour for a
 * person; the stop of another source must not wait for that.
 */
export class Executor {
  readonly #options: ExecutorOptions;
  #underWay: string | undefined;

  constructor(options: ExecutorOptions) {
    this.#options = options;
  }

  /** The Decision that is being carried out; nothing else may write its status. */
  get underWay(): string | undefined {
    return this.#underWay;
  }

  /** Runs until the signal is aborted. Rejects with its reason or with an error that must end the process. */
  async run(): Promise<never> {
    const { clock, signal } = this.#options;
    for (;;) {
      await this.#look();
      await clock.sleep(lookMs, signal);
    }
  }

  async #look(): Promise<void> {
    const { isCurrent, decisions, logger, taken } = this.#options;
    const decision = isCurrent() ? nextToCarryOut(decisions(), this.#options) : undefined;
    if (decision === undefined) return;
    const { name } = decision.metadata;
    this.#underWay = name;
    taken?.add(name);
    try {
      const phase = await carryOut(this.#options, decision);
      if (phase !== undefined) logger.info("Stopped carrying out a Decision", { name, phase });
    } catch (thrown) {
      // The Decision stays Running under this leader, and the next look continues it.
      if (!isPassing(thrown)) throw thrown;
      logger.warn("Cannot continue a Decision for now", { name, error: toLeveeError(thrown, "Cannot go on").message });
    } finally {
      taken?.delete(name);
      this.#underWay = undefined;
    }
  }
}

/** Open Decisions of one namespace, and so what a person may be busy with at a time. */
const questionsMax = 8;

/** What is carried out side by side. Within one of these, Decisions wait for each other. */
export const lanes: readonly Pick<ExecutorOptions, "purpose" | "cause">[] = [
  // The stop of an avalanche takes seconds; that of a workload waits for a hold of Argo CD and for its pods to go.
  { purpose: "StopSource", cause: "OwnerlessPodAvalanche" },
  { purpose: "StopSource", cause: "RunawayWorkload" },
  { purpose: "Recover" },
  { purpose: "LowerMemory" },
  // A person may take a day for one of these. There is one for each workload, and they have nothing to do with each other.
  ...Array.from({ length: questionsMax }, () => ({ purpose: "ByHand", cause: "RunawayWorkload" }) as const),
  { purpose: "ByHand", cause: "ReservedSandboxNames" },
  { purpose: "ByHand", cause: "RebootBacklog" },
];

/** The first approved Decision. A recovery waits for an approved stop of its own source, less memory for every stop and recovery. */
export function nextToCarryOut(
  decisions: readonly Decision[],
  options: Pick<ExecutorOptions, "term" | "purpose" | "cause" | "taken">,
): Decision | undefined {
  const approvedMs = ({ status }: Decision): number => timeMs(status?.approval?.at);
  const ready = decisions.filter((decision) => isToBeCarriedOut(decision, options));
  const stopping = new Set(ready.filter(({ spec }) => spec.purpose === "StopSource").map(sourceOf));
  const isTrouble = ready.some(({ spec }) => spec.purpose === "StopSource" || spec.purpose === "Recover");
  const mayBegin = (decision: Decision): boolean => {
    const { purpose } = decision.spec;
    if (purpose === "LowerMemory") return !isTrouble;
    return purpose !== "Recover" || !stopping.has(sourceOf(decision));
  };
  return ready
    .filter(({ spec }) => spec.purpose === options.purpose && [undefined, spec.cause].includes(options.cause))
    .filter((decision) => mayBegin(decision) && options.taken?.has(decision.metadata.name) !== true)
    .toSorted((left, right) => approvedMs(left) - approvedMs(right))[0];
}

function sourceOf({ spec }: Decision): string {
  return `${spec.cause}/${spec.subject.namespace}`;
}
