import type { Ruling } from "../../admission/rulings.ts";
import type { Logger } from "../../base/log.ts";
import type { RulingFeed } from "./ruling-feed.ts";

/** Logs rulings about the node. Rulings about a call are in that call's own line. */
export function logRulings(rulings: RulingFeed, logger: Logger): void {
  rulings.listen((ruling) => {
    switch (ruling.what) {
      case "network-opened":
        logger.warn("A network fails for all pods and is tried only once in a while", { reason: ruling.detail });
        return;
      case "network-closed":
        logger.info("A network works again", { network: ruling.detail });
        return;
      case "hung":
        logger.warn("A plugin hangs and no longer counts as running", { ...subjectOf(ruling), reason: ruling.detail });
        return;
      case "oom-killed":
        logger.error("The kernel killed a plugin for memory; fewer plugins run at once now", {
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
