import { LeveeError, toLeveeError } from "../../base/errors.ts";
import { podArgs } from "../../cni/cni-args.ts";
import { printCniError } from "../../cni/cni-error.ts";
import { parseRequest, type CniRequest } from "../../cni/verb.ts";
import type { Call } from "./call.ts";
import type { CallsUnderWay } from "./calls-under-way.ts";
import { logCall } from "./log-call.ts";
import type { Ports } from "../ports.ts";
import { alreadyPrinted, resumeAdd } from "../attach/resume.ts";
import { subjectOfCall } from "../record/subject.ts";
import { add } from "../attach/add.ts";
import type { Reply } from "./reply.ts";
import { check } from "../attach/check.ts";
import { del } from "../undo/del.ts";
import { gc } from "../collect/gc.ts";
import { status } from "../health/status.ts";

/**
 * Serves one CNI call from its header to goodbye. Every error of a verb ends here: told once, logged once. No functions
 * inside: what they close over would be kept for each call in line.
 */
export async function serveCall(
  call: Call,
  { ports, calls }: { readonly ports: Ports; readonly calls: CallsUnderWay },
): Promise<void> {
  let request: CniRequest | undefined;
  calls.began();
  try {
    request = parseRequest(call.header);
    note(request, "asked", ports);
    if (request.verb !== "STATUS") await ports.offline.ready;
    const answer = await dispatch(call, request, ports);
    if (answer !== alreadyPrinted) await deliver(call, answer, ports);
    call.bye();
    logCall({ call, request, tookMs: call.ageMs(), error: undefined }, ports);
  } catch (thrown) {
    await fail(call, request, thrown, ports);
  } finally {
    calls.ended();
  }
}

async function fail(call: Call, request: CniRequest | undefined, thrown: unknown, ports: Ports): Promise<void> {
  try {
    const error = toLeveeError(thrown, `Cannot serve ${call.header.verb}`);
    if (request !== undefined) note(request, "failed", ports, error);
    logCall({ call, request, tookMs: call.ageMs(), error }, ports);
    await tell(call, error);
  } catch (defect) {
    const error = toLeveeError(defect, "Cannot serve the call");
    ports.logger.error("A call ended in a defect", { reason: error.message });
    // Its shim would wait for an answer until its budget ends.
    call.refuse(error);
  }
}

function dispatch(call: Call, request: CniRequest, ports: Ports): Promise<Reply | typeof alreadyPrinted> {
  switch (request.verb) {
    case "ADD":
      return call.resumed === undefined ? add(call, request, ports) : resumeAdd(call, request, call.resumed, ports);
    case "DEL":
      return del(call, request, ports);
    case "CHECK":
      return check(call, request, ports);
    case "STATUS":
      return status(call, ports);
    case "GC":
      return gc(call, ports);
    case "VERSION":
      // The shim answers VERSION by itself; a peer that asks us is not one of ours.
      return Promise.reject(new LeveeError("protocol-violated", "Cannot serve VERSION over the socket"));
  }
}

async function deliver(call: Call, answer: Reply, ports: Ports): Promise<void> {
  using _held = answer.held;
  const printed = await call.finish(0, answer.output).catch((thrown: unknown) => {
    if (call.hand.isLost) return false;
    throw thrown;
  });
  if (answer.delivered === undefined) return;
  if (!printed) {
    ports.logger.warn("The runtime did not take a result; the attachment is undone", {
      container: call.header.containerId,
    });
    // Whoever undoes it needs the turn.
    answer.held?.[Symbol.dispose]();
  }
  try {
    await answer.delivered(printed);
  } catch (thrown) {
    // Without BYE the shim leaves a durable note instead, so the acknowledgement is late but not lost.
    ports.logger.error("An acknowledgement could not be written down", {
      container: call.header.containerId,
      reason: toLeveeError(thrown, "Journal").message,
    });
    call.hangUp();
    answer.undelivered?.();
  }
}

/** A DEL that cannot be served now, and an ADD that only its shim can undo, are the shim's to finish; the rest is an answer. */
async function tell(call: Call, error: LeveeError): Promise<void> {
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
    // The shim left before it heard of the error; nobody is there to be told.
    if (!call.hand.isLost) call.refuse(toLeveeError(thrown, "Cannot answer"));
  }
}

function note(request: CniRequest, what: string, ports: Ports, error?: LeveeError): void {
  if (!("containerId" in request)) return;
  ports.timeline.note(
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
