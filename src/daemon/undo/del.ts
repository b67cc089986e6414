import type { Admission } from "../../admission/admission.ts";
import type { AdmissionRequest } from "../../admission/request.ts";
import { deadline, type Clock } from "../../base/clock.ts";
import { LeveeError } from "../../base/errors.ts";
import { podArgs } from "../../cni/cni-args.ts";
import type { DelRequest } from "../../cni/verb.ts";
import type { DaemonConfig } from "../../config/daemon-config.ts";
import { closingMs } from "../../config/time-budgets.ts";
import type { AttachmentRecord } from "../../state/journal/attachment-record.ts";
import type { Journal } from "../../state/journal/journal.ts";
import { ChainReports, networksOf } from "../chains/chain-reports.ts";
import { subjectOfCall } from "../record/subject.ts";
import type { Call } from "../serve/call.ts";
import { silence, type Reply } from "../serve/reply.ts";
import type { Turns } from "../serve/turns.ts";
import { delPatience, unlessPromised } from "./del-patience.ts";
import { netnsToPass } from "./netns-to-pass.ts";
import type { Recovery } from "./recovery.ts";
import { SharedDeletes } from "./shared-deletes.ts";
import type { Undo, UndoPlace } from "./undo.ts";
import type { InSlot, UndoUnknown } from "./undo-unknown.ts";

export interface DelNeeds {
  readonly bootId: string;
  readonly clock: Clock;
  readonly config: Pick<DaemonConfig, "delDelegatesMs" | "delQueueMs">;
  readonly turns: Pick<Turns, "take" | "cancelAdd">;
  readonly admission: Admission;
  readonly journal: Pick<Journal, "find" | "inNetns">;
  readonly recovery: Pick<Recovery, "proveGone" | "lostDelete">;
  readonly undo: Undo;
  readonly unknown: UndoUnknown;
}

/** The verb DEL: undoes an ADD, with ADD's own bytes. Early, late and repeated DELs all succeed. */
export class Del {
  readonly #needs: DelNeeds;
  readonly #shared = new SharedDeletes();

  constructor(needs: DelNeeds) {
    this.#needs = needs;
  }

  async serve(call: Call, request: DelRequest): Promise<Reply> {
    this.#needs.turns.cancelAdd(request.containerId);
    const key = `${request.containerId}/${request.ifname}`;
    await this.#shared.run(key, call.signal, () => this.#delete(call, request));
    return silence;
  }

  async #delete(call: Call, request: DelRequest): Promise<void> {
    const { clock, config, turns, admission, journal, unknown } = this.#needs;
    const now = { path: request.netns ?? "", identity: call.header.netnsIdentity };
    const find = (): AttachmentRecord | undefined => journal.find(request);
    const patienceMs = delPatience(call.remainingMs(), find(), { config, admission });
    const late = (): LeveeError =>
      new LeveeError("try-later", `Cannot delete ${request.containerId} now: it waited ${patienceMs} ms for its turn`);
    using limit = deadline(clock, patienceMs, late, call.signal);
    try {
      using _turn = await turns.take(request.containerId, { verb: "DEL", cancel: () => undefined }, limit.signal);
      const record = find();
      const slot = { call, request, signal: limit.signal };
      if (record === undefined) {
        const container = { ...request, now, config: () => call.config() };
        return await unknown.delete(call.hand, container, {
          inSlot: (found, run) => this.#inSlot(slot, found, run),
          leftMs: () => call.remainingMs() - closingMs,
        });
      }
      await this.#inSlot(slot, record, (reports) => this.#deleteRecord(call, record, { now, reports }));
    } catch (thrown) {
      const record = find();
      const isAlive = record !== undefined && netnsToPass(record, now, this.#needs) !== "";
      throw isAlive ? unlessPromised(thrown, record) : thrown;
    }
  }

  async #inSlot({ call, request, signal }: Slot, ...[record, run]: Parameters<InSlot>): Promise<void> {
    const { admission } = this.#needs;
    const asked = call.asks(admissionOfDel(request, record), admission);
    using permit = await admission.admit(asked, signal);
    await run(new ChainReports(permit));
  }

  async #deleteRecord(call: Call, record: AttachmentRecord, place: Pick<UndoPlace, "now" | "reports">): Promise<void> {
    const { recovery, undo } = this.#needs;
    try {
      await recovery.proveGone(call.hand, record);
      // The call may have spent most of its time in line.
      await undo.delete(record, { ...place, hand: call.hand, limitMs: call.remainingMs() - closingMs });
    } catch (thrown) {
      // The runtime wants the attachment gone, so recovery finishes the work of a lost shim.
      if (call.hand.isLost) recovery.lostDelete(record.token, call.hand.identity);
      throw thrown;
    }
  }
}

/** The call that waits for a slot, and when it stops waiting. */
interface Slot {
  readonly call: Call;
  readonly request: DelRequest;
  readonly signal: AbortSignal;
}

function admissionOfDel(request: DelRequest, record: AttachmentRecord): AdmissionRequest {
  return {
    kind: "detach",
    subject: subjectOfCall({ ...request, verb: "DEL" }),
    namespace: podArgs(request.args).namespace ?? record.pod.namespace,
    pod: record.pod.uid,
    priority: undefined,
    networks: networksOf(record),
  };
}
