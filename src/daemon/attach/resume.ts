import type { Admission } from "../../admission/admission.ts";
import type { Permit } from "../../admission/permit.ts";
import { LeveeError, toLeveeError, type ErrorCode } from "../../base/errors.ts";
import type { AddRequest } from "../../cni/verb.ts";
import { isPlanned } from "../../hands/planned-step.ts";
import type { AttachmentRecord } from "../../state/journal/attachment-record.ts";
import type { Journal } from "../../state/journal/journal.ts";
import type { ResumeHeader } from "../../wire/messages.ts";
import { ChainReports } from "../chains/chain-reports.ts";
import { subjectOf } from "../record/subject.ts";
import type { Timeline } from "../record/timeline.ts";
import type { Call } from "../serve/call.ts";
import { alreadyPrinted, type Reply } from "../serve/reply.ts";
import type { Turns } from "../serve/turns.ts";
import type { Afterwork } from "../tell/afterwork.ts";
import type { Add } from "./add.ts";
import { admissionOfResume } from "./admission-request.ts";
import type { AttachRecord } from "./attach-record.ts";
import type { PodAccounts } from "./pod-account.ts";

export interface ResumeNeeds {
  readonly journal: Pick<Journal, "acknowledge" | "findByToken" | "probeWritable">;
  readonly turns: Turns;
  readonly timeline: Timeline;
  readonly admission: Admission;
  readonly accounts: Pick<PodAccounts, "of">;
  readonly add: Pick<Add, "serve">;
  readonly attachRecord: AttachRecord;
  readonly afterwork: Pick<Afterwork, "resumed">;
}

/** Goes on with an ADD of the last daemon, from the step after the last recorded one. */
export class Resume {
  readonly #needs: ResumeNeeds;

  constructor(needs: ResumeNeeds) {
    this.#needs = needs;
  }

  async serve(call: Call, request: AddRequest, resumed: ResumeHeader): Promise<Reply | typeof alreadyPrinted> {
    const { journal, turns, timeline, add } = this.#needs;
    const isKnown = journal.findByToken(resumed.token) !== undefined;
    if (!isKnown && hasLeftNothing(resumed)) return add.serve(call, request);
    using held = new DisposableStack();
    const holder = { verb: "ADD", cancel: (reason: Error) => call.cancel(reason) };
    held.use(await turns.take(request.containerId, holder, call.signal));
    const record = journal.findByToken(resumed.token);
    if (record === undefined) return resumeUnknown(resumed);
    timeline.note(subjectOf(record, "ADD"), "resumed", { detail: `in phase ${record.phase}` });
    const reply = await this.#goOn(call, record, resumed);
    return reply === alreadyPrinted ? reply : { ...reply, held: held.move() };
  }

  async #goOn(call: Call, record: AttachmentRecord, resumed: ResumeHeader): Promise<Reply | typeof alreadyPrinted> {
    const { journal, attachRecord, afterwork } = this.#needs;
    switch (record.phase) {
      case "acknowledged":
        return alreadyPrinted;
      case "committed":
        afterwork.resumed(record);
        if (!resumed.printed) return attachRecord.committed(record);
        await journal.acknowledge(record.token);
        return alreadyPrinted;
      case "undoing":
        throw await attachRecord.undo(call, record, failureOf(record));
      case "intent":
        return this.#attachAgain(call, record);
    }
  }

  async #attachAgain(call: Call, record: AttachmentRecord): Promise<Reply> {
    const { admission, accounts, attachRecord, journal } = this.#needs;
    // The shim was undoing already, and the last daemon could not record that. The remaining steps cannot be built on.
    const last = call.resumed?.last;
    if (last !== undefined && !isPlanned(last.step) && record.steps.size > 0) {
      const error = new LeveeError("try-later", "The attachment was being undone when the daemon ended");
      throw await attachRecord.undo(call, record, error);
    }
    const account = accounts.of(record.pod, record);
    let permit: Permit;
    try {
      // The record may be of a daemon that was killed before the disk had it.
      await journal.probeWritable();
      permit = await admission.admit(call.asks(admissionOfResume(record, account), admission), call.signal);
    } catch (thrown) {
      throw await attachRecord.undo(call, record, toLeveeError(thrown, "Cannot go on with the attachment"));
    }
    using _permit = permit;
    return await attachRecord.attach(call, record, new ChainReports(permit, account));
  }
}

/**
 * Whether the call can begin again, because it ran only orders outside of a plan. They came before the plan was written,
 * or undid all of it, so either way nothing is left.
 */
function hasLeftNothing(resumed: ResumeHeader): boolean {
  return !resumed.printed && (resumed.last === undefined || !isPlanned(resumed.last.step));
}

/** The shim ran steps that the journal does not know: only the shim itself can undo them. */
function resumeUnknown(resumed: ResumeHeader): typeof alreadyPrinted {
  if (resumed.printed) return alreadyPrinted;
  throw new LeveeError(
    "hand-lost",
    `Cannot go on with operation ${resumed.token} as the journal has no record of it; the shim undoes its own steps`,
  );
}

function failureOf(record: AttachmentRecord): LeveeError {
  const { failure } = record;
  if (failure === undefined)
    return new LeveeError("internal", "The attachment was being undone, and the journal does not have the reason");
  return new LeveeError(failure.code as ErrorCode, failure.message, {
    cniCode: failure.cniCode,
    details: failure.details,
  });
}
