import type { AdmissionRequest } from "../../admission/request.ts";
import type { Ruling, RulingKind } from "../../admission/rulings.ts";

/** Carries every ruling of admission to those who show it: metrics, the log, the story of a pod. */
export class RulingFeed {
  readonly #listeners: ((ruling: Ruling) => void)[] = [];

  /** A listener must not throw: it runs in the middle of admission. */
  listen(listener: (ruling: Ruling) => void): void {
    this.#listeners.push(listener);
  }

  emit(ruling: Ruling): void {
    for (const listener of this.#listeners) listener(ruling);
  }
}

/** What happens to those that run already is no answer to their asking. */
const beside: ReadonlySet<RulingKind> = new Set(["hung", "moves-again", "oom-killed"]);

/** Admission's last word on each request, for the line in the log that tells of its end. */
export class LastRulings {
  /** Kept as long as the request is: nothing is added to what a call in line costs but its last ruling. */
  readonly #last = new WeakMap<AdmissionRequest, Ruling>();

  constructor(rulings: RulingFeed) {
    rulings.listen((ruling) => {
      if (ruling.request !== undefined && !beside.has(ruling.what)) this.#last.set(ruling.request, ruling);
    });
  }

  of(request: AdmissionRequest | undefined): Ruling | undefined {
    return request === undefined ? undefined : this.#last.get(request);
  }
}
