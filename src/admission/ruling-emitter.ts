import type { Clock } from "../base/clock.ts";
import type { Ruling, RulingKind } from "./rulings.ts";
import type { AdmissionClass, AdmissionRequest } from "./request.ts";

/** Whom a ruling is about: a request in line, or a permit. */
interface About {
  readonly request: AdmissionRequest;
  readonly admissionClass?: AdmissionClass;
  /** In line, or running, since then. */
  readonly sinceMs?: number;
}

/** Tells whoever wants to know of each ruling: metrics, the log, the timeline of a pod. */
export class RulingEmitter {
  readonly #clock: Clock;
  readonly #onRuling: (ruling: Ruling) => void;

  constructor(clock: Clock, onRuling: (ruling: Ruling) => void) {
    this.#clock = clock;
    this.#onRuling = onRuling;
  }

  emit(what: RulingKind, about: About | undefined, detail: string, network?: string): void {
    const { request, admissionClass, sinceMs } = about ?? {};
    const forMs = sinceMs === undefined ? 0 : this.#clock.monotonicMs() - sinceMs;
    this.#onRuling({ what, request, admissionClass, forMs, detail, ...(network === undefined ? {} : { network }) });
  }
}
