import type { Clock } from "../../base/clock.ts";
import { toLeveeError } from "../../base/errors.ts";
import type { Logger } from "../../base/log.ts";
import type { DaemonConfig } from "../../config/daemon-config.ts";
import type { Hand } from "../../hands/hand.ts";
import type { AttachmentRecord } from "../../state/journal/attachment-record.ts";
import type { Journal } from "../../state/journal/journal.ts";
import type { View } from "../../view/view.ts";
import type { Recovery } from "../undo/recovery.ts";
import type { GcAction, GcFinding } from "../../wire/node-view.ts";
import { witnessesOf, type DeadEnd, type DeadRecord, type UndoDead } from "./undo-dead.ts";
import { Looks } from "./looks.ts";
import { doubtsAbout, endedBoots, isSettled, judge, undoLimit } from "./rules.ts";
import { lookAtNamespaces, type Sight } from "./sight.ts";

/** Undos at a time. After a reboot there is one for each pod of the node; half of the hand's places stay for recovery. */
const lanes = 4;

interface AttachmentRound {
  readonly findings: readonly GcFinding[];
  readonly sight: Sight;
  /** Something must be seen once more before it can be undone. */
  readonly isPending: boolean;
}

interface Found {
  readonly record: AttachmentRecord;
  readonly why: string;
  readonly action: GcAction;
}

interface AttachmentGcNeeds {
  readonly clock: Clock;
  readonly config: Pick<DaemonConfig, "gcGraceMs">;
  readonly bootId: string;
  readonly logger: Logger;
  readonly journal: Pick<Journal, "all" | "inNetns">;
  readonly view: Pick<View, "pods">;
  readonly recovery: Pick<Recovery, "isPending" | "isDeletePending">;
  readonly dead: UndoDead;
}

/** Our own garbage collection of the journal's attachments: the same rule as for the runtime's GC, without its list. */
export class AttachmentGc {
  readonly #needs: AttachmentGcNeeds;
  readonly #looks = new Looks();

  constructor(needs: AttachmentGcNeeds) {
    this.#needs = needs;
  }

  async round(hand: Hand, isActing: boolean): Promise<AttachmentRound> {
    const { journal, recovery } = this.#needs;
    const records = journal.all().filter(isSettled);
    const sight = await lookAtNamespaces(hand, records, journal);
    // Recovery already deals with the others.
    const idle = records.filter((record) => !recovery.isPending(record.token) && !recovery.isDeletePending(record));
    const ended = endedBoots(records, sight, this.#needs.bootId);
    const found = this.#judgeAll(idle, sight, ended);
    const due = found.filter(({ action }) => action === "detach");
    const admitted = isActing ? this.#admit(due, records.length, ended) : [];
    const done = await this.#undo(hand, admitted, sight);
    return {
      findings: found.map((one) => this.#outcome(one, { done: done.get(one), isActing })),
      sight,
      isPending: found.some(({ action }) => action === "wait"),
    };
  }

  #judgeAll(records: readonly AttachmentRecord[], sight: Sight, ended: ReadonlySet<string>): readonly Found[] {
    const { bootId, clock, config, view } = this.#needs;
    const judged = records.map((record) => ({ record, ...judge(record, sight, bootId) }));
    const nowMs = clock.monotonicMs();
    this.#looks.note(
      judged.filter(({ fate }) => fate === "dead").map(({ record }) => record.token),
      nowMs,
    );
    const doubt = doubtsAbout({ records, pods: view.pods() });
    return judged.flatMap(({ record, fate, why }): readonly Found[] => {
      if (fate === "dead") {
        const ageMs = this.#looks.ageMs(record.token, nowMs) ?? 0;
        const isDue = ended.has(record.bootId) || ageMs >= config.gcGraceMs;
        return [{ record, why, action: isDue ? "detach" : "wait" }];
      }
      if (fate !== "alive") return [{ record, why, action: "report" }];
      const doubtful = doubt(record);
      return doubtful === undefined ? [] : [{ record, why: `${doubtful}; ${why}`, action: "report" }];
    });
  }

  #admit(due: readonly Found[], attachments: number, ended: ReadonlySet<string>): readonly Found[] {
    const limit = undoLimit(attachments);
    const admitted = this.#needs.dead.admit(due, limit, ended);
    if (admitted.length < due.length)
      this.#needs.logger.warn("More attachments are dead than may be undone in a minute; the rest must wait", {
        dead: due.length,
        undone: admitted.length,
        limit,
      });
    return admitted;
  }

  async #undo(
    hand: Hand,
    admitted: readonly Found[],
    sight: Sight,
  ): Promise<ReadonlyMap<Found, { readonly action: GcAction; readonly detail: string }>> {
    const done = new Map<Found, { readonly action: GcAction; readonly detail: string }>();
    if (admitted.length === 0) return done;
    const witnesses = witnessesOf(sight.alive);
    const left = [...admitted];
    const lane = async (): Promise<void> => {
      for (let one = left.shift(); one !== undefined; one = left.shift())
        done.set(one, await this.#undoOne(hand, { record: one.record, witnesses }));
    };
    await Promise.all(Array.from({ length: lanes }, lane));
    return done;
  }

  async #undoOne(hand: Hand, dead: DeadRecord): Promise<{ readonly action: GcAction; readonly detail: string }> {
    try {
      return endings[await this.#needs.dead.undo(hand, dead)];
    } catch (thrown) {
      if (hand.isLost) throw thrown;
      const { code, message } = toLeveeError(thrown, "Cannot undo");
      return { action: code === "try-later" ? "wait" : "failed", detail: message };
    }
  }

  #outcome(
    found: Found,
    facts: { done: { action: GcAction; detail: string } | undefined; isActing: boolean },
  ): GcFinding {
    const { record, why, action } = found;
    const isHeld = facts.isActing && action === "detach";
    const end = facts.done ?? { action: isHeld ? "hold" : action, detail: "" };
    return {
      what: "attachment",
      namespace: record.pod.namespace,
      pod: record.pod.name,
      containerId: record.containerId,
      network: record.chains.map((chain) => chain.network).join(","),
      ifname: record.chains.map((chain) => chain.ifname).join(","),
      address: "",
      why,
      ...end,
    };
  }
}

const endings: Readonly<Record<DeadEnd, { readonly action: GcAction; readonly detail: string }>> = {
  undone: { action: "detached", detail: "" },
  leaked: { action: "failed", detail: "a plugin failed; the rest is in the leak ledger" },
  gone: { action: "detached", detail: "another call did it" },
  doubtful: { action: "report", detail: "at the second look it was not dead for certain" },
};
