import type { Clock } from "../../base/clock.ts";
import type { Logger } from "../../base/log.ts";
import type { EventTeller } from "../tell/event-teller.ts";
import { eventReasons, problemText, type ConfDirProblem } from "./conf-dir-facts.ts";

export interface ConfDirTellerOptions {
  readonly clock: Clock;
  readonly logger: Logger;
  readonly eventTeller: EventTeller;
}

/** A file looks broken for a moment while its owner writes it. */
const patienceMs = 3_000;
const patientKinds: ReadonlySet<ConfDirProblem["kind"]> = new Set(["primary-unusable", "given-unusable"]);
/** A lasting warning is logged again this often, so that the end of the log says why the node has no networks. */
const repeatMs = 60_000;

/** Brings problems of the conf directory to people: an Event on the node once per change, and lines in the log. */
export class ConfDirTeller {
  readonly #options: ConfDirTellerOptions;
  #seen: ReadonlyMap<string, Seen> = new Map();

  constructor(options: ConfDirTellerOptions) {
    this.#options = options;
  }

  tell(problems: readonly ConfDirProblem[]): void {
    const nowMs = this.#options.clock.monotonicMs();
    const seen = new Map<string, Seen>();
    for (const problem of problems) {
      const key = `${problem.kind} ${problemText(problem)}`;
      seen.set(key, this.#tellOne(problem, this.#seen.get(key) ?? { sinceMs: nowMs, loggedMs: undefined }));
    }
    this.#seen = seen;
  }

  #tellOne(problem: ConfDirProblem, earlier: Seen): Seen {
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

interface Seen {
  readonly sinceMs: number;
  /** Undefined until the problem is logged. */
  readonly loggedMs: number | undefined;
}
