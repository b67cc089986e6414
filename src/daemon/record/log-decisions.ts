import type { Decision } from "../../admission/decisions.ts";
import type { Logger } from "../../base/log.ts";
import type { DecisionFeed } from "./decision-feed.ts";

/** Writes down what admission notices about the node. What it decides about a call is in that call's own line. */
export function logDecisions(decisions: DecisionFeed, logger: Logger): void {
  decisions.listen((decision) => {
    switch (decision.what) {
      case "network-opened":
        logger.warn("A network fails for everybody and is tried once in a while", { reason: decision.detail });
        return;
      case "network-closed":
        logger.info("A network works again", { network: decision.detail });
        return;
      case "hung":
        logger.warn("A plugin hangs and is no longer counted", { ...subjectOf(decision), reason: decision.detail });
        return;
      case "oom-killed":
        logger.error("A plugin was killed by the kernel for want of memory; fewer run at once now", {
          ...subjectOf(decision),
          network: decision.detail,
        });
        return;
      default:
    }
  });
}

function subjectOf({ request }: Decision): { readonly namespace?: string; readonly pod?: string } {
  return request === undefined ? {} : { namespace: request.namespace, pod: request.pod };
}
