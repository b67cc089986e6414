import type { AdmissionRequest } from "../../admission/request.ts";
import type { Ruling, RulingKind } from "../../admission/rulings.ts";

/** Passes every ruling of admission on to metrics, the log and the timeline. */
export class RulingFeed {
  readonly #listeners: ((ruling: Ruling) => void)[] = [];

  /** A listener must not throw, as it runs inside admission. */
  listen(listener: (ruling: Ruling) => void): void {
    this.#listeners.push(listener);
  }

  emit(ruling: Ruling): void {
    for (const listener of this.#listeners) listener(ruling);
  }
}

/** Rulings about running calls; they do not answer a request. */
const aboutRunning: ReadonlySet<RulingKind> = new Set(["hung", "moves-again", "oom-killed"]);

/** The last ruling on each request, for the log line at the end of its call. */
export class LastRulings {
  /** Weak, so that a ruling lives only as long as its request. */
  readonly #last = new WeakMap<AdmissionRequest, Ruling>();

  constructor(rulings: RulingFeed) {
    rulings.listen((ruling) => {
      if (ruling.request !== undefined && !aboutRunning.has(ruling.what)) this.#last.set(ruling.request, ruling);
    });
  }

  of(request: AdmissionRequest | undefined): Ruling | undefined {
    return request === undefined ? undefined : this.#last.get(request);
  }
}
