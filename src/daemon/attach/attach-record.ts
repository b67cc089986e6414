import { LeveeError, toLeveeError } from "../../base/errors.ts";
import type { Logger } from "../../base/log.ts";
import { mergeResults } from "../../attachment/merge.ts";
import type { AddRequest } from "../../cni/verb.ts";
import { printResult } from "../../cni/result.ts";
import type { DaemonConfig } from "../../config/daemon-config.ts";
import type { AttachmentRecord } from "../../state/journal/attachment-record.ts";
import type { Journal } from "../../state/journal/journal.ts";
import type { ChainReports } from "../chains/chain-reports.ts";
import { prepareDeviceInfo } from "../chains/device-info.ts";
import { subjectOf, subjectOfCall } from "../record/subject.ts";
import type { Timeline } from "../record/timeline.ts";
import type { Call } from "../serve/call.ts";
import type { Reply } from "../serve/reply.ts";
import type { Afterwork } from "../tell/afterwork.ts";
import type { Recovery } from "../undo/recovery.ts";
import type { Undo } from "../undo/undo.ts";
import type { RunChains } from "./run-chains.ts";

/** This leaves room for the rest of FINISH in a frame. */
const outputBytesMax = 1_000_000;

export interface AttachRecordNeeds {
  readonly config: Pick<DaemonConfig, "deviceInfoDir">;
  readonly logger: Logger;
  readonly journal: Pick<Journal, "acknowledge" | "begin" | "commit" | "findByToken" | "undoing">;
  readonly timeline: Timeline;
  readonly runChains: Pick<RunChains, "run">;
  readonly undo: Pick<Undo, "undo">;
  readonly recovery: Pick<Recovery, "lost">;
  readonly afterwork: Pick<Afterwork, "committed" | "tell">;
}

/** Attaches the networks of a record, from the step it has reached, or undoes all of it. */
export class AttachRecord {
  readonly #needs: AttachRecordNeeds;

  constructor(needs: AttachRecordNeeds) {
    this.#needs = needs;
  }

  /** Writes the plan, and resolves when it is on the disk. */
  async begin(request: AddRequest, record: AttachmentRecord): Promise<void> {
    await this.#needs.journal.begin(record);
    this.#needs.timeline.note(subjectOfCall(request), "planned", {
      detail: record.chains.map((chain) => `${chain.network} as ${chain.ifname}`).join(", "),
    });
  }

  async attach(call: Call, record: AttachmentRecord, reports: ChainReports): Promise<Reply> {
    const { config, logger, journal, timeline, runChains, afterwork } = this.#needs;
    try {
      if (record.steps.size === 0 && hasDevices(record)) await prepareDeviceInfo(record, config.deviceInfoDir, logger);
      const results = await runChains.run(call, record, reports);
      // A DEL may wait for this container, or the shim may be gone: then no result is wanted.
      call.givenUp.throwIfAborted();
      const output = printResult(mergeResults(record.chains, results), record.cniVersion);
      refuseUnsendable(output);
      await journal.commit(record.token, results);
      reports.succeeded();
      timeline.note(subjectOf(record, "ADD"), "committed");
      afterwork.committed(record.token);
      return this.#reply(record, output);
    } catch (thrown) {
      // The reason for ending the call says more than the error of the plugin that was killed for it.
      const cause: unknown = call.givenUp.aborted ? call.givenUp.reason : thrown;
      const error = toLeveeError(cause, "Cannot attach the pod");
      await reports.failed(error);
      throw await this.undo(call, record, error, reports);
    }
  }

  /** The reply of an ADD that was committed before the daemon went away. */
  committed(record: AttachmentRecord): Reply {
    const results = record.results.filter((result) => result !== undefined);
    // The last daemon may not have told it.
    this.#needs.afterwork.tell(record.token);
    return this.#reply(record, printResult(mergeResults(record.chains, results), record.cniVersion));
  }

  /**
   * Undoes by the same shim, before the runtime hears of the failure, and resolves to the error for the runtime. The
   * work of a lost shim is left to recovery.
   */
  async undo(call: Call, record: AttachmentRecord, error: LeveeError, reports?: ChainReports): Promise<LeveeError> {
    const { journal, logger, undo, recovery } = this.#needs;
    if (!call.hand.isLost) {
      await this.#writeReason(record, error);
      try {
        const current = journal.findByToken(record.token) ?? record;
        const now = { path: call.header.netns, identity: call.header.netnsIdentity };
        const isUndone = await undo.undo(current, { hand: call.hand, now, reports: reports?.forUndo() });
        return isUndone ? error : withLeak(error);
      } catch (thrown) {
        logger.error("An attachment could not be undone by its own shim", {
          container: record.containerId,
          reason: toLeveeError(thrown, "Undo").message,
        });
      }
    }
    recovery.lost(record.token, call.hand.identity);
    return error;
  }

  /** Lets a restarted daemon answer with the first failure. A full disk must not stop the undo itself. */
  async #writeReason(record: AttachmentRecord, error: LeveeError): Promise<void> {
    const failure = { code: error.code, cniCode: error.cniCode, message: error.message, details: error.details };
    await this.#needs.journal.undoing(record.token, failure).catch((thrown: unknown) => {
      this.#needs.logger.warn("The reason of an undo could not be written to the journal", {
        container: record.containerId,
        reason: toLeveeError(thrown, "Journal").message,
      });
    });
  }

  #reply(record: AttachmentRecord, output: string): Reply {
    return {
      output,
      delivered: (printed) => this.#delivered(record, printed),
      // The shim's offline record shows whether the runtime has the result. Without one, the attachment goes.
      undelivered: () => this.#needs.recovery.lost(record.token, record.hand),
    };
  }

  /** Without the result the runtime does not run the pod, so the attachment goes. */
  async #delivered(record: AttachmentRecord, printed: boolean): Promise<void> {
    const { journal, timeline, recovery } = this.#needs;
    if (printed) {
      await journal.acknowledge(record.token);
      timeline.note(subjectOf(record, "ADD"), "acknowledged");
      return;
    }
    timeline.note(subjectOf(record, "ADD"), "lost", { detail: "the runtime did not take the result" });
    recovery.lost(record.token, record.hand);
  }
}

function hasDevices({ chains }: AttachmentRecord): boolean {
  return chains.some(({ multus }) => multus.request.deviceId !== undefined);
}

/** Refused before the commit, while an undo is possible: a long result with its indents may not fit into a frame. */
function refuseUnsendable(output: string): void {
  const size = Buffer.byteLength(output, "utf8");
  if (size <= outputBytesMax) return;
  throw new LeveeError("delegate-failed", `Cannot hand over a result of ${size} bytes: the limit is ${outputBytesMax}`);
}

/** Appends the leak to the error, so that one message has both. */
function withLeak(error: LeveeError): LeveeError {
  const { code, message, cniCode, details } = error;
  return new LeveeError(code, `${message}; part of it could not be undone, see levee leaks`, {
    cniCode,
    details,
    cause: error,
  });
}
