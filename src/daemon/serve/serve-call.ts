import type { ContainerId } from "../../base/brand.ts";
import { toLeveeError, type LeveeError } from "../../base/errors.ts";
import type { Logger } from "../../base/log.ts";
import { podArgs } from "../../cni/cni-args.ts";
import { printCniError } from "../../cni/cni-error.ts";
import { parseRequest, type CniRequest } from "../../cni/verb.ts";
import { subjectOfCall } from "../record/subject.ts";
import type { Timeline } from "../record/timeline.ts";
import type { Call } from "./call.ts";
import type { CallLog } from "./call-log.ts";
import type { CallsUnderWay } from "./calls-under-way.ts";
import { alreadyPrinted, type Reply } from "./reply.ts";
import { dispatch, type Verbs } from "./verbs.ts";

export interface ServeNeeds {
  readonly verbs: Verbs;
  readonly calls: CallsUnderWay;
  readonly timeline: Timeline;
  readonly logger: Logger;
  readonly callLog: CallLog;
  /** A container whose ADD failed has nothing to delete. */
  readonly journal: { addFailed(containerId: ContainerId): void };
  /** Resolves when the deletes that shims recorded while the daemon was away are known. */
  readonly offline: { readonly ready: Promise<void> };
}

/**
 * Serves one CNI call from its header to BYE. Every error of a verb ends here: it is answered once and logged once.
 * There are no inner functions, because each call in line would keep its closures.
 */
export async function serveCall(call: Call, needs: ServeNeeds): Promise<void> {
  let request: CniRequest | undefined;
  needs.calls.began();
  try {
    request = parseRequest(call.header);
    note(request, "asked", needs);
    if (request.verb !== "STATUS") await needs.offline.ready;
    const reply = await dispatch(call, request, needs.verbs);
    if (reply !== alreadyPrinted) await deliver(call, reply, needs);
    call.bye();
    needs.callLog.log({ call, request, tookMs: call.ageMs(), error: undefined });
  } catch (thrown) {
    await fail(call, request, thrown, needs);
  } finally {
    needs.calls.ended();
  }
}

async function fail(call: Call, request: CniRequest | undefined, thrown: unknown, needs: ServeNeeds): Promise<void> {
  try {
    const error = toLeveeError(thrown, `Cannot serve ${call.header.verb}`);
    if (request !== undefined) note(request, "failed", needs, error);
    const isRefused = request?.verb === "ADD" && error.code !== "interface-taken";
    // The shim of a resumed ADD undoes steps that the journal does not know, and may fail.
    if (isRefused && call.resumed === undefined) needs.journal.addFailed(request.containerId);
    needs.callLog.log({ call, request, tookMs: call.ageMs(), error });
    await answerError(call, error);
  } catch (defect) {
    const error = toLeveeError(defect, "Cannot serve the call");
    needs.logger.error("A call ended in a defect", { reason: error.message });
    // Without an answer the shim would wait until its budget ends.
    call.refuse(error);
  }
}

async function deliver(call: Call, reply: Reply, { logger }: ServeNeeds): Promise<void> {
  using _held = reply.held;
  const printed = await call.finish(0, reply.output).catch((thrown: unknown) => {
    if (call.hand.isLost) return false;
    throw thrown;
  });
  if (reply.delivered === undefined) return;
  if (!printed) {
    logger.warn("The runtime did not take a result; the attachment is undone", { container: call.header.containerId });
    // The undo needs the container's turn.
    reply.held?.[Symbol.dispose]();
  }
  try {
    await reply.delivered(printed);
  } catch (thrown) {
    // Without BYE the shim leaves an offline record, so the acknowledgement is late but not lost.
    logger.error("An acknowledgement could not be written to the journal", {
      container: call.header.containerId,
      reason: toLeveeError(thrown, "Journal").message,
    });
    call.hangUp();
    reply.undelivered?.();
  }
}

/** The shim records a DEL that cannot be served now, and undoes an ADD that only it can undo. Other errors are answers. */
async function answerError(call: Call, error: LeveeError): Promise<void> {
  if (call.hand.isLost) return;
  const isForShim = error.code === "hand-lost" || (call.header.verb === "DEL" && error.code === "try-later");
  if (isForShim) {
    call.refuse(error);
    return;
  }
  try {
    await call.learnVersion();
    await call.finish(1, printCniError(call.answerVersion, error));
    call.bye();
  } catch (thrown) {
    // A shim that is gone needs no answer.
    if (!call.hand.isLost) call.refuse(toLeveeError(thrown, "Cannot answer"));
  }
}

function note(request: CniRequest, what: string, { timeline }: ServeNeeds, error?: LeveeError): void {
  if (!("containerId" in request)) return;
  timeline.note(
    subjectOfCall(request),
    what,
    error === undefined
      ? uidOf(request)
      : { detail: `${error.code}: ${error.message}`, ...(error.details === "" ? {} : { stderr: error.details }) },
  );
}

function uidOf(request: Extract<CniRequest, { readonly containerId: string }>): { readonly uid?: string } {
  const { uid } = podArgs(request.args);
  return uid === undefined || request.verb !== "ADD" ? {} : { uid };
}
