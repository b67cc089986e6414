import type { Clock } from "../../base/clock.ts";
import type { Logger } from "../../base/log.ts";
import type { EventTeller } from "../tell/event-teller.ts";
import { eventReasons, problemText, type ConfDirProblem } from "./conf-dir-facts.ts";

export interface VoiceOptions {
  readonly clock: Clock;
  readonly logger: Logger;
  readonly eventTeller: EventTeller;
}

/** A file that is being written looks broken for a moment. */
const patienceMs = 3_000;
const patientKinds: ReadonlySet<ConfDirProblem["kind"]> = new Set(["primary-unusable", "given-unusable"]);
/** A warning that stays is logged again this often, so that the end of a log says why the node has no networks. */
const repeatMs = 60_000;

/** Says what is wrong with the conf directory: an Event on the node once per change, and the log. */
export class ConfDirVoice {
  readonly #options: VoiceOptions;
  #heard: ReadonlyMap<string, Heard> = new Map();

  constructor(options: VoiceOptions) {
    this.#options = options;
  }

  say(problems: readonly ConfDirProblem[]): void {
    const nowMs = this.#options.clock.monotonicMs();
    const heard = new Map<string, Heard>();
    for (const problem of problems) {
      const key = `${problem.kind} ${problemText(problem)}`;
      heard.set(key, this.#hear(problem, this.#heard.get(key) ?? { sinceMs: nowMs, loggedMs: undefined }));
    }
    this.#heard = heard;
  }

  #hear(problem: ConfDirProblem, earlier: Heard): Heard {
    const { clock, logger, eventTeller } = this.#options;
    const nowMs = clock.monotonicMs();
    const { kind, severity } = problem;
    const message = problemText(problem);
    if (patientKinds.has(kind) && nowMs - earlier.sinceMs < patienceMs) return earlier;
    const isNew = earlier.loggedMs === undefined;
    if (isNew && severity !== "note") eventTeller.aboutNode({ type: "Warning", reason: eventReasons[kind], message });
    const isDue = isNew || (severity !== "note" && nowMs - (earlier.loggedMs ?? 0) >= repeatMs);
    if (!isDue) return earlier;
    if (severity !== "note") logger.warn(message);
    else logger.info(message);
    return { ...earlier, loggedMs: nowMs };
  }
}

interface Heard {
  readonly sinceMs: number;
  /** Undefined while it has not been said. */
  readonly loggedMs: number | undefined;
}
