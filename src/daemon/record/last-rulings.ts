import type { Ruling, RulingKind } from "../../admission/rulings.ts";
import type { AdmissionRequest } from "../../admission/request.ts";
import type { RulingFeed } from "./ruling-feed.ts";

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
