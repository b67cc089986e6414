import type { Hand } from "../../hands/hand.ts";
import type { Journal } from "../../state/journal/journal.ts";
import type { MultusMirror } from "../../state/multus/multus-mirror.ts";
import type { ChainReports } from "../chains/chain-reports.ts";
import { recordedPod, subjectOfCall } from "../record/subject.ts";
import type { Timeline } from "../record/timeline.ts";
import type { Leaks } from "./leaks.ts";
import type { LostContainer, LostRecords } from "./lost-records.ts";
import type { OfflineFolder } from "./offline-folder.ts";
import type { Undo } from "./undo.ts";

export interface UndoUnknownNeeds {
  readonly bootId: string;
  readonly journal: Pick<Journal, "forget">;
  readonly offline: Pick<OfflineFolder, "dropDelete">;
  readonly timeline: Timeline;
  readonly lost: Pick<LostRecords, "mayExist" | "find">;
  readonly undo: Pick<Undo, "chains">;
  readonly leaks: Pick<Leaks, "add" | "addUnknown">;
  readonly mirror: Pick<MultusMirror, "remove">;
}

/**
 * DEL of a container without a record. For a container that was never added it succeeds at once. The journal may not
 * know that when it was damaged, or when Multus served the node for a time: then the record is sought elsewhere, and if
 * that fails the loss goes to the leak ledger.
 */
export class UndoUnknown {
  readonly #needs: UndoUnknownNeeds;

  constructor(needs: UndoUnknownNeeds) {
    this.#needs = needs;
  }

  async delete(hand: Hand, container: LostContainer, reports?: ChainReports): Promise<void> {
    const { journal, offline, timeline, lost } = this.#needs;
    const { containerId, ifname } = container;
    if (await lost.mayExist(container)) {
      await this.#undo(hand, container, reports);
      await journal.forget(containerId);
    } else timeline.note(subjectOfCall({ ...container, verb: "DEL" }), "finished", { detail: "nothing to undo" });
    await offline.dropDelete(containerId, ifname);
  }

  async #undo(hand: Hand, container: LostContainer, reports: ChainReports | undefined): Promise<void> {
    const { bootId, lost, undo, leaks, mirror } = this.#needs;
    const { args, cniPath, now } = container;
    const record = await lost.find(container);
    if (record === undefined) {
      const reason = "the journal lost its record, and it cannot be rebuilt from Multus' cache or from the pod";
      await leaks.addUnknown(container, { pod: recordedPod(args), netns: now, cniPath, bootId, reason });
      return;
    }
    await leaks.add(record, now, await undo.chains(record, { hand, now, verb: "DEL", reports }));
    await mirror.remove(record);
  }
}
