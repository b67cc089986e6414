import type { LeveeError } from "../../base/errors.ts";
import type { LogFields, Logger } from "../../base/log.ts";
import { podArgs } from "../../cni/cni-args.ts";
import type { CniRequest } from "../../cni/verb.ts";
import { nodeNetworks } from "../../admission/request.ts";
import type { Call } from "./call.ts";
import type { LastRulings } from "../record/ruling-feed.ts";
import type { CallMetrics } from "../metrics/call-metrics.ts";

/** A call that has ended. */
export interface CallEnd {
  readonly call: Call;
  /** Undefined when the header could not be parsed. */
  readonly request: CniRequest | undefined;
  readonly tookMs: number;
  readonly error: LeveeError | undefined;
}

export interface CallLogNeeds {
  readonly logger: Logger;
  readonly measures: Pick<CallMetrics, "called">;
  readonly lastRulings: Pick<LastRulings, "of">;
  /** Told of every call; its fields go into the line. Undefined where calls are not traced. */
  readonly traces: { ended(end: CallEnd): LogFields } | undefined;
}

/** Counts every call and writes the one line about it. */
export class CallLog {
  readonly #needs: CallLogNeeds;

  constructor(needs: CallLogNeeds) {
    this.#needs = needs;
  }

  log(end: CallEnd): void {
    const { call, request, tookMs, error } = end;
    const { logger, measures, lastRulings, traces } = this.#needs;
    const { verb, hand, containerId, ifname } = call.header;
    const ruling = lastRulings.of(call.asked?.request);
    const admissionClass = ruling?.admissionClass;
    measures.called({ verb, admissionClass, tookMs, shim: hand.software, error });
    const fields: LogFields = {
      // The header may be unchecked: a broken peer may send any length.
      verb: clip(verb),
      class: admissionClass,
      ...podFields(request),
      container: clip(containerId),
      ifname: clip(ifname),
      ...askedFields(call),
      waitedMs: ruling === undefined ? undefined : Math.round(ruling.forMs),
      tookMs: Math.round(tookMs),
      code: error?.code ?? "ok",
      ...traces?.ended(end),
    };
    if (error !== undefined) {
      const details = error.details === "" ? undefined : error.details;
      logger.warn("Not served", { ...fields, reason: error.message, details });
    } else if (verb === "STATUS") logger.debug("Served", fields);
    else logger.info("Served", fields);
  }
}

function podFields(request: CniRequest | undefined): LogFields {
  if (request === undefined || !("containerId" in request)) return {};
  const { namespace, name } = podArgs(request.args);
  return { namespace, pod: name };
}

function askedFields({ asked }: Call): LogFields {
  if (asked === undefined) return {};
  const networks = asked.request.networks.filter((name) => name !== nodeNetworks);
  return {
    networks: networks.length === 0 ? undefined : networks,
    attempt: asked.attempt === 1 ? undefined : asked.attempt,
  };
}

function clip(text: string): string {
  return text.slice(0, 256);
}
