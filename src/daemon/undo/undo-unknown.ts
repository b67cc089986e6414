import type { Logger } from "../../base/log.ts";
import type { Hand } from "../../hands/hand.ts";
import type { AttachmentRecord } from "../../state/journal/attachment-record.ts";
import type { Journal } from "../../state/journal/journal.ts";
import type { MultusMirror } from "../../state/multus/multus-mirror.ts";
import type { ChainReports } from "../chains/chain-reports.ts";
import { recordedPod, subjectOfCall } from "../record/subject.ts";
import type { Timeline } from "../record/timeline.ts";
import type { Leaks } from "./leaks.ts";
import type { LostContainer } from "./lost-container.ts";
import type { LostRecords } from "./lost-records.ts";
import type { OfflineFolder } from "./offline-folder.ts";
import type { Signs } from "./signs.ts";
import type { Undo } from "./undo.ts";

export interface UndoUnknownNeeds {
  readonly bootId: string;
  readonly logger: Logger;
  readonly journal: Pick<Journal, "forget">;
  readonly offline: Pick<OfflineFolder, "dropDelete">;
  readonly timeline: Timeline;
  readonly lost: Pick<LostRecords, "find" | "isLost">;
  readonly signs: Pick<Signs, "find" | "netnsOf">;
  readonly undo: Pick<Undo, "chains">;
  readonly leaks: Pick<Leaks, "add" | "addUnknown">;
  readonly mirror: Pick<MultusMirror, "remove">;
}

/** Runs the plugins of a record when it may: a call waits for a slot first. */
export type InSlot = (record: AttachmentRecord, run: (reports?: ChainReports) => Promise<void>) => Promise<void>;

const atOnce: InSlot = (_record, run) => run();

/**
 * DEL of a container without a record. Nothing runs for a container that Levee has deleted, or whose ADD it refused. If
 * the journal was damaged, or Multus served the node for a time, the record is sought elsewhere, and if that fails the
 * loss goes to the leak ledger. For a container that Levee has never heard of, plugins run only if a sign of it is on
 * the node. The search needs no slot.
 */
export class UndoUnknown {
  readonly #needs: UndoUnknownNeeds;

  constructor(needs: UndoUnknownNeeds) {
    this.#needs = needs;
  }

  async delete(hand: Hand, container: LostContainer, inSlot: InSlot = atOnce): Promise<void> {
    const { journal, offline, timeline, lost, signs } = this.#needs;
    const { containerId, ifname } = container;
    const subject = subjectOfCall({ ...container, verb: "DEL" });
    const knowledge = await lost.isLost(container);
    const sign = knowledge === "unknown" ? await signs.find(hand, container) : undefined;
    if (knowledge === "lost" || sign !== undefined) {
      timeline.note(subject, "found", { detail: `the journal does not know it, but ${sign ?? "it may have lost it"}` });
      await this.#undo(hand, container, { inSlot, isLost: knowledge === "lost" });
      // No program removes the runtime's file of an older attachment, so the next DEL would find the same sign again.
      await journal.forget(containerId);
    } else timeline.note(subject, "finished", { detail: "nothing to undo" });
    await offline.dropDelete(containerId, ifname);
  }

  async #undo(hand: Hand, container: LostContainer, how: { inSlot: InSlot; isLost: boolean }): Promise<void> {
    const { lost, signs, undo, leaks, mirror } = this.#needs;
    const now = await signs.netnsOf(hand, container);
    const found = await lost.find({ ...container, now });
    if (found === undefined)
      return this.#keepLoss(container, "it cannot be rebuilt from Multus' cache or from the pod");
    const { record, lack } = found;
    await how.inSlot(record, async (reports) => {
      await leaks.add(record, now, await undo.chains(record, { hand, now, verb: "DEL", reports }));
    });
    await mirror.remove(record);
    if (lack === "") return;
    // Without a lost record there is no reason to believe that the container had other networks.
    if (how.isLost) await this.#keepLoss(container, lack);
    else
      this.#needs.logger.info("An unknown container was deleted", { container: container.containerId, reason: lack });
  }

  async #keepLoss(container: LostContainer, why: string): Promise<void> {
    const { args, cniPath, now } = container;
    const facts = { pod: recordedPod(args), netns: now, cniPath, bootId: this.#needs.bootId };
    await this.#needs.leaks.addUnknown(container, { ...facts, reason: `the journal lost its record, and ${why}` });
  }
}
