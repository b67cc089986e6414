import { LeveeError } from "../../base/errors.ts";
import type { AddRequest, CheckRequest, CniRequest, DelRequest } from "../../cni/verb.ts";
import type { ResumeHeader } from "../../wire/messages.ts";
import type { Call } from "./call.ts";
import type { alreadyPrinted, Reply } from "./reply.ts";

/**
 * The verbs that the daemon serves. A new verb is a line here, a case below, a class in its room that compose makes, and its
 * variables in src/cni/verb.ts and shim/src.
 */
export interface Verbs {
  readonly add: { serve(call: Call, request: AddRequest): Promise<Reply> };
  readonly resume: {
    serve(call: Call, request: AddRequest, resumed: ResumeHeader): Promise<Reply | typeof alreadyPrinted>;
  };
  readonly del: { serve(call: Call, request: DelRequest): Promise<Reply> };
  readonly check: { serve(call: Call, request: CheckRequest): Promise<Reply> };
  readonly status: { serve(call: Call): Promise<Reply> };
  readonly gc: { serve(call: Call): Promise<Reply> };
}

export function dispatch(call: Call, request: CniRequest, verbs: Verbs): Promise<Reply | typeof alreadyPrinted> {
  switch (request.verb) {
    case "ADD":
      return call.resumed === undefined
        ? verbs.add.serve(call, request)
        : verbs.resume.serve(call, request, call.resumed);
    case "DEL":
      return verbs.del.serve(call, request);
    case "CHECK":
      return verbs.check.serve(call, request);
    case "STATUS":
      return verbs.status.serve(call);
    case "GC":
      return verbs.gc.serve(call);
    case "VERSION":
      // The shim answers VERSION by itself, so this peer is not our shim.
      return Promise.reject(new LeveeError("protocol-violated", "Cannot serve VERSION over the socket"));
  }
}
