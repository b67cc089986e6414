import type { Clock } from "../base/clock.ts";
import type { Ruling, RulingKind } from "./rulings.ts";
import type { AdmissionClass, AdmissionRequest } from "./request.ts";

/** The subject of a ruling: a request in line, or a permit. */
interface About {
  readonly request: AdmissionRequest;
  readonly admissionClass?: AdmissionClass;
  /** When it joined the line or started to run. */
  readonly sinceMs?: number;
}

/** Adds the time to each ruling and passes it to the listener. */
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
