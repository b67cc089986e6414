import type { LeveeError } from "../../base/errors.ts";
import type { LogFields } from "../../base/log.ts";
import { podArgs } from "../../cni/cni-args.ts";
import type { CniRequest } from "../../cni/verb.ts";
import { nodeNetworks } from "../look-up/node-networks.ts";
import type { Call } from "./call.ts";
import type { Ports } from "../ports.ts";

/** A call that has come to its end. */
export interface CallEnd {
  readonly call: Call;
  /** Undefined when it could not be read. */
  readonly request: CniRequest | undefined;
  readonly tookMs: number;
  readonly error: LeveeError | undefined;
}

/** Counts a call and writes the one line about it. */
export function logCall({ call, request, tookMs, error }: CallEnd, ports: Ports): void {
  const { verb, hand, containerId, ifname } = call.header;
  const verdict = ports.lastRulings.of(call.asked?.request);
  const admissionClass = verdict?.admissionClass;
  ports.measures.called({ verb, admissionClass, tookMs, shim: hand.software, error });
  const fields: LogFields = {
    // Not checked yet, and as long as a broken peer likes.
    verb: clip(verb),
    class: admissionClass,
    ...podFields(request),
    container: clip(containerId),
    ifname: clip(ifname),
    ...askedFields(call),
    waitedMs: verdict === undefined ? undefined : Math.round(verdict.forMs),
    tookMs: Math.round(tookMs),
    code: error?.code ?? "ok",
  };
  if (error !== undefined) {
    const details = error.details === "" ? undefined : error.details;
    ports.logger.warn("Not served", { ...fields, reason: error.message, details });
  } else if (verb === "STATUS") ports.logger.debug("Served", fields);
  else ports.logger.info("Served", fields);
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
