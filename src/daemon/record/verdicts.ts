import type { Decision, DecisionKind } from "../../admission/decisions.ts";
import type { AdmissionRequest } from "../../admission/request.ts";
import type { DecisionFeed } from "./decision-feed.ts";

/** What happens to those that run already is no answer to their asking. */
const beside: ReadonlySet<DecisionKind> = new Set(["hung", "moves-again", "oom-killed"]);

/** Admission's last word on each request, for the line in the log that tells of its end. */
export class Verdicts {
  /** Kept as long as the request is: nothing is added to what a call in line costs but its last decision. */
  readonly #last = new WeakMap<AdmissionRequest, Decision>();

  constructor(decisions: DecisionFeed) {
    decisions.listen((decision) => {
      if (decision.request !== undefined && !beside.has(decision.what)) this.#last.set(decision.request, decision);
    });
  }

  of(request: AdmissionRequest | undefined): Decision | undefined {
    return request === undefined ? undefined : this.#last.get(request);
  }
}
