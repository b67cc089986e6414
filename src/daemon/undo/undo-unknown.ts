import type { ContainerId } from "../../base/brand.ts";
import { LeveeError, toLeveeError } from "../../base/errors.ts";
import type { Logger } from "../../base/log.ts";
import type { Hand } from "../../hands/hand.ts";
import type { AttachmentRecord } from "../../state/journal/attachment-record.ts";
import type { Journal } from "../../state/journal/journal.ts";
import type { MultusMirror } from "../../state/multus/multus-mirror.ts";
import type { ChainReports } from "../chains/chain-reports.ts";
import { recordedPod, subjectOfCall } from "../record/subject.ts";
import type { Timeline } from "../record/timeline.ts";
import { unlessPromised } from "./del-patience.ts";
import type { Leaks } from "./leaks.ts";
import type { LostContainer } from "./lost-container.ts";
import type { LostRecords } from "./lost-records.ts";
import type { OfflineFolder } from "./offline-folder.ts";
import type { Signs } from "./signs.ts";
import type { Undo } from "./undo.ts";

export interface UndoUnknownNeeds {
  readonly bootId: string;
  readonly logger: Logger;
  readonly journal: Pick<Journal, "forget" | "suspect">;
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

/** How the plugins of an unknown container run. */
export interface UnknownOrder {
  readonly inSlot?: InSlot;
  /** The hand's time for them, asked when they begin. */
  readonly leftMs?: () => number;
}

const atOnce: InSlot = (_record, run) => run();

/**
 * DEL of a container without a record. Nothing runs for a container that Levee has deleted, or whose ADD it refused. If
 * the journal was damaged, or Multus served the node for a time, the record is sought elsewhere, and if that fails the
 * loss goes to the leak ledger. For a container that Levee has never heard of, plugins run only if a sign of it is on
 * the node. The search needs no slot.
 */
export class UndoUnknown {
  readonly #needs: UndoUnknownNeeds;
  /** Signs of containers whose plugins have not run yet. The next look may come too late to find them again. */
  readonly #seen = new Map<ContainerId, string>();

  constructor(needs: UndoUnknownNeeds) {
    this.#needs = needs;
  }

  async delete(hand: Hand, container: LostContainer, order: UnknownOrder = {}): Promise<void> {
    const { journal, offline, timeline, lost } = this.#needs;
    const { containerId, ifname } = container;
    const subject = subjectOfCall({ ...container, verb: "DEL" });
    const knowledge = await lost.isLost(container);
    const sign = knowledge === "never" ? undefined : await this.#sign(hand, container, knowledge);
    if (knowledge === "lost" || sign !== undefined) {
      timeline.note(subject, "found", { detail: `the journal does not know it, but ${sign ?? "it may have lost it"}` });
      refuseForeignNetns(hand, container);
      await this.#undo(hand, container, { ...order, isLost: sign === undefined });
      // No program removes the runtime's file of an older attachment, so the next DEL would find the same sign again.
      await journal.forget(containerId);
      this.#seen.delete(containerId);
    } else timeline.note(subject, "finished", { detail: "nothing to undo" });
    await offline.dropDelete(containerId, ifname);
  }

  /** The sign of a container, now or at an earlier DEL that could not be carried out. */
  async #sign(hand: Hand, container: LostContainer, knowledge: "lost" | "unknown"): Promise<string | undefined> {
    const { containerId, kept } = container;
    const seen = this.#seen.get(containerId);
    if (seen !== undefined || knowledge === "lost") return seen;
    const sign = kept?.sign ?? (await this.#needs.signs.find(hand, container));
    if (sign !== undefined) await this.#remember(containerId, sign);
    else if (kept !== undefined && !hand.isResident) {
      const why = "only the resident hand can see whether something of it is left";
      throw new LeveeError("try-later", `Cannot delete ${containerId} yet as ${why}`);
    }
    return sign;
  }

  /** The index keeps the container across a restart: a DEL that is put off outlives the interface and the runtime's file. */
  async #remember(containerId: ContainerId, sign: string): Promise<void> {
    const { journal, logger } = this.#needs;
    this.#seen.set(containerId, sign);
    await journal.suspect([containerId]).catch((thrown: unknown) => {
      const reason = toLeveeError(thrown, "Writing").message;
      logger.warn("A container that the journal does not know is kept in memory only", {
        container: containerId,
        reason,
      });
    });
  }

  async #undo(hand: Hand, container: LostContainer, how: UnknownOrder & { isLost: boolean }): Promise<void> {
    const { lost, signs, undo, leaks, mirror } = this.#needs;
    const now = await signs.netnsOf(hand, container);
    const found = await lost.find({ ...container, now });
    if (found === undefined)
      return this.#keepLoss(container, "it cannot be rebuilt from Multus' cache or from the pod");
    const { record, lack } = found;
    const { inSlot = atOnce, leftMs = () => Number.POSITIVE_INFINITY } = how;
    const run = inSlot(record, async (reports) => {
      const order = { hand, now, reports, limitMs: leftMs() };
      await leaks.add(record, now, await undo.chains(record, { ...order, verb: "DEL" }));
    });
    await run.catch((thrown: unknown) => {
      throw now.identity === undefined ? thrown : unlessPromised(thrown, record);
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

/** A call's own shim may enter only its own namespace, so a kept DEL in another living one must wait. */
function refuseForeignNetns(hand: Hand, { containerId, kept, now }: LostContainer): void {
  if (kept === undefined || hand.isResident || now.identity === undefined) return;
  const why = "its network namespace is still alive, and only the resident hand can work in it";
  throw new LeveeError("try-later", `Cannot delete ${containerId} yet as ${why}`);
}
