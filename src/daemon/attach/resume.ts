import { LeveeError, toLeveeError, type ErrorCode } from "../../base/errors.ts";
import type { AddRequest } from "../../cni/verb.ts";
import { isPlanned } from "../../hands/hand.ts";
import type { AttachmentRecord } from "../../state/journal/attachment-record.ts";
import type { Permit } from "../../admission/permit.ts";
import { admissionOfResume } from "./admission-request.ts";
import { noteAsked } from "./note-asked.ts";
import { attach, committedAnswer, giveUp } from "./run-chains.ts";
import type { Call } from "../serve/call.ts";
import { ChainReports } from "../chains/chain-reports.ts";
import { Holdings } from "../serve/holdings.ts";
import { PodAccount } from "./pod-account.ts";
import type { Ports } from "../ports.ts";
import type { ResumeHeader } from "../../wire/messages.ts";
import { subjectOf } from "../record/subject.ts";
import { add } from "./add.ts";
import type { Reply } from "../serve/reply.ts";

/** The runtime has its result already; there is nothing left to say but goodbye. */
export const alreadyPrinted = "already-printed";

/** Goes on with an ADD whose daemon went away: from the step after the last one that is known. */
export async function resumeAdd(
  call: Call,
  request: AddRequest,
  resumed: ResumeHeader,
  ports: Ports,
): Promise<Reply | typeof alreadyPrinted> {
  const isKnown = ports.journal.findByToken(resumed.token) !== undefined;
  if (!isKnown && hasLeftNothing(resumed)) return add(call, request, ports);
  using held = new Holdings();
  const holder = { verb: "ADD", cancel: (reason: Error) => call.cancel(reason) };
  held.use(await ports.turns.take(request.containerId, holder, call.signal));
  const record = ports.journal.findByToken(resumed.token);
  if (record === undefined) return resumeUnknown(resumed);
  ports.timeline.note(subjectOf(record, "ADD"), "resumed", { detail: `in phase ${record.phase}` });
  const answer = await goOn(call, record, resumed, ports);
  return answer === alreadyPrinted ? answer : { ...answer, held: held.move() };
}

async function goOn(
  call: Call,
  record: AttachmentRecord,
  resumed: ResumeHeader,
  ports: Ports,
): Promise<Reply | typeof alreadyPrinted> {
  switch (record.phase) {
    case "acknowledged":
      return alreadyPrinted;
    case "committed":
      // The commit may be all that the last daemon got to.
      void ports.mirror.write(record);
      if (!resumed.printed) return committedAnswer(record, ports);
      await ports.journal.acknowledge(record.token);
      return alreadyPrinted;
    case "undoing":
      throw await giveUp(call, record, failureOf(record), { ports });
    case "intent":
      return attachAgain(call, record, ports);
  }
}

async function attachAgain(call: Call, record: AttachmentRecord, ports: Ports): Promise<Reply> {
  // The shim was undoing already, which the last daemon had no room to write down: what is undone cannot be built on.
  const last = call.resumed?.last;
  if (last !== undefined && !isPlanned(last.step) && record.steps.size > 0) {
    throw await giveUp(
      call,
      record,
      new LeveeError("try-later", "The attachment was being undone when the daemon ended"),
      { ports },
    );
  }
  const account = new PodAccount(record.pod, record, ports);
  let permit: Permit;
  try {
    const asked = noteAsked(call, admissionOfResume(record, account), ports);
    permit = await ports.admission.admit(asked, call.signal);
  } catch (thrown) {
    throw await giveUp(call, record, toLeveeError(thrown, "Cannot go on with the attachment"), { ports });
  }
  using _permit = permit;
  return await attach(call, record, ports, new ChainReports(permit, account));
}

/**
 * Whether the call can begin again: it ran nothing but orders outside of a plan. Those came before the intent was
 * written, or undid the plan to its end, so either way nothing of it is there.
 */
function hasLeftNothing(resumed: ResumeHeader): boolean {
  return !resumed.printed && (resumed.last === undefined || !isPlanned(resumed.last.step));
}

/** The shim ran steps that the journal does not know: only the shim itself can undo them. */
function resumeUnknown(resumed: ResumeHeader): typeof alreadyPrinted {
  if (resumed.printed) return alreadyPrinted;
  throw new LeveeError(
    "hand-lost",
    `Cannot go on with operation ${resumed.token} as the journal does not know it any more; the shim undoes what it did`,
  );
}

function failureOf(record: AttachmentRecord): LeveeError {
  const { failure } = record;
  if (failure === undefined)
    return new LeveeError("internal", "The attachment was being undone for a reason that is not recorded");
  return new LeveeError(failure.code as ErrorCode, failure.message, {
    cniCode: failure.cniCode,
    details: failure.details,
  });
}
