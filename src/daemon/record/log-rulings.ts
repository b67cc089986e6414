import type { Ruling } from "../../admission/rulings.ts";
import type { Logger } from "../../base/log.ts";
import type { RulingFeed } from "./ruling-feed.ts";

/** Writes down what admission notices about the node. What it decides about a call is in that call's own line. */
export function logRulings(rulings: RulingFeed, logger: Logger): void {
  rulings.listen((ruling) => {
    switch (ruling.what) {
      case "network-opened":
        logger.warn("A network fails for everybody and is tried once in a while", { reason: ruling.detail });
        return;
      case "network-closed":
        logger.info("A network works again", { network: ruling.detail });
        return;
      case "hung":
        logger.warn("A plugin hangs and is no longer counted", { ...subjectOf(ruling), reason: ruling.detail });
        return;
      case "oom-killed":
        logger.error("A plugin was killed by the kernel for want of memory; fewer run at once now", {
          ...subjectOf(ruling),
          network: ruling.detail,
        });
        return;
      default:
    }
  });
}

function subjectOf({ request }: Ruling): { readonly namespace?: string; readonly pod?: string } {
  return request === undefined ? {} : { namespace: request.namespace, pod: request.pod };
}
