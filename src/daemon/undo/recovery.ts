import { deadline, type Cancel, type Clock } from "../../base/clock.ts";
import { LeveeError, toLeveeError } from "../../base/errors.ts";
import type { Logger } from "../../base/log.ts";
import type { ProcessIdentity } from "../../base/identity.ts";
import { podArgs, type CniArgs } from "../../cni/cni-args.ts";
import type { DaemonConfig } from "../../config/daemon-config.ts";
import type { Hand } from "../../hands/hand.ts";
import type { AttachmentKey, AttachmentRecord } from "../../state/journal/attachment-record.ts";
import type { Journal } from "../../state/journal/journal.ts";
import { networksOf } from "../chains/chain-reports.ts";
import type { Call } from "../serve/call.ts";
import type { OfflineDelete, OfflineFolder } from "./offline-folder.ts";
import type { RecoverItem } from "./recover-item.ts";
import { PendingDeletes } from "./queue/pending-deletes.ts";
import { logPostponed, offlineText, spareMs, type Work } from "./queue/recovery-work.ts";
import type { Residents } from "./residents.ts";
import type { LeakRetries } from "./retry-leaks.ts";
import type { Suspects } from "./suspects.ts";
import { WorkQueue } from "./queue/work-queue.ts";

/** An item that gets no turn within this time is tried again later. */
const turnMsMax = 10_000;
/** How many runs the resident hand takes at a time. */
const lanes = 8;
/** With less time than this, a call's own shim begins no work of another container. */
const borrowMsMin = 1_000;

export interface RecoveryNeeds {
  readonly clock: Clock;
  readonly config: Pick<DaemonConfig, "undoRetryMs" | "addLookupMs" | "addDelegatesMs" | "addUndoMs">;
  readonly logger: Logger;
  readonly journal: Pick<Journal, "all" | "delFailed" | "find" | "findByToken">;
  readonly offline: Pick<OfflineFolder, "has">;
  readonly residents: Residents;
  readonly suspects: Pick<Suspects, "add" | "proveGone">;
  readonly item: Pick<RecoverItem, "carryOut">;
  readonly leaks: Pick<LeakRetries, "isAnyWanted" | "retryDue" | "wantAll">;
}

/**
 * The work that belongs to no call: undoing the work of lost shims, deletes made while the daemon was away, and the leak
 * ledger. The resident hand does it. Without one, the next shim that connects does as much as it may.
 */
export class Recovery {
  readonly #needs: RecoveryNeeds;
  readonly #work: WorkQueue;
  readonly #deletes = new PendingDeletes();
  /** What the resident hand does now: lanes with their items, and a round of leaks. */
  readonly #running = new Set<Promise<void>>();
  #busyLanes = 0;
  #isRetryingLeaks = false;
  #stop: Cancel = () => undefined;
  #isStopped = false;

  constructor(needs: RecoveryNeeds) {
    this.#needs = needs;
    this.#work = new WorkQueue(needs.clock);
  }

  /** Finds the unfinished work of the last daemon, and looks for due work from now on. */
  start(): void {
    for (const record of this.#needs.journal.all()) {
      const isWanted = record.phase === "acknowledged" && record.delAttempts === 0;
      if (!isWanted)
        this.#work.put(record.token, { kind: "record", token: record.token, isDelete: false, isInherited: true });
    }
    const { size } = this.#deletes;
    if (size > 0) this.#needs.logger.info(offlineText(size, this.#needs.residents.hand() !== undefined));
    this.#stop = this.#needs.clock.every(this.#needs.config.undoRetryMs, () => this.#kick());
    this.#kick();
  }

  /** Takes no new work. Shims that are disconnected from here on are not lost: they come back to the next daemon. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    this.#stop();
    await Promise.all(this.#running);
  }

  /** Whether a record waits for its undo. */
  isPending(token: string): boolean {
    return this.#work.has(token);
  }

  /** Whether a delete of it, made while the daemon was away, is still due. */
  isDeletePending(attachment: AttachmentKey): boolean {
    const found = this.#deletes.find(attachment);
    // A later DEL may have carried it out and removed its file.
    return found !== undefined && this.#needs.offline.has(found.name);
  }

  addResident(hand: Hand): void {
    this.#needs.residents.add(hand);
    // From then on the shims of waiting ADDs must do the work.
    hand.lost.addEventListener("abort", () => this.#deletes.wake(), { once: true });
    this.#kick();
  }

  /** A shim was lost during an ADD, or before its result was acknowledged. */
  lost(token: string, hand: ProcessIdentity | undefined): void {
    if (hand !== undefined) this.#needs.suspects.add(token, hand);
    this.#work.put(token, { kind: "record", token, isDelete: false, isInherited: false });
    this.#kick();
  }

  /** A shim was lost during a DEL. The journal notes the DEL, so that a restart does not forget it. */
  lostDelete(token: string, hand: ProcessIdentity): void {
    if (this.#isStopped) return;
    this.#needs.journal.delFailed(token, "the shim was lost during the DEL").catch((thrown: unknown) => {
      this.#needs.logger.error("A lost DEL could not be written to the journal", {
        reason: toLeveeError(thrown, "Journal").message,
      });
    });
    this.#needs.suspects.add(token, hand);
    this.#work.put(token, { kind: "record", token, isDelete: true, isInherited: false });
    this.#kick();
  }

  /** A known delete keeps its pause. */
  offlineDelete(request: OfflineDelete): void {
    if (this.#work.has(request.name)) return;
    const { clock, config, journal } = this.#needs;
    const record = journal.find(request);
    const untilMs = clock.monotonicMs() + config.addLookupMs;
    this.#deletes.add(request, record === undefined ? undefined : networksOf(record), untilMs);
    this.#work.put(request.name, { kind: "offline", request });
    this.#kick();
  }

  /** Tries every leak once more now. False when no resident hand is connected. */
  retryLeaksNow(): boolean {
    this.#needs.leaks.wantAll();
    this.#kick();
    return this.#needs.residents.hand() !== undefined;
  }

  /** Throws while a process of a hand that worked on this record may still run. */
  proveGone(hand: Hand, record: AttachmentRecord): Promise<void> {
    return this.#needs.suspects.proveGone(hand, record);
  }

  /**
   * Lets an ADD wait until deletes of its own pod that were made while the daemon was away are done, because two sandboxes
   * of one pod must not overlap. Without a resident hand, the call's own shim does the work. The time is what the call can
   * spare: the rest of its budget stays for the look-up, the plugins and their undo.
   */
  async settleBefore(call: Call, args: CniArgs): Promise<void> {
    if (this.#work.size === 0) return;
    const { clock } = this.#needs;
    const endsMs = clock.monotonicMs() + spareMs(call.remainingMs(), this.#needs.config);
    for (;;) {
      if (this.#needs.residents.hand() === undefined) await this.#lane(call.hand, endsMs);
      const own = this.#deletes.ofPod(args);
      if (own === undefined) return;
      if (clock.monotonicMs() >= endsMs) break;
      await own.changed(clock, endsMs, call.signal);
    }
    const { namespace = "", name = "" } = podArgs(args);
    const why = "as the delete of its earlier sandbox is still due";
    throw new LeveeError("try-later", `Cannot attach ${namespace}/${name} yet ${why}`);
  }

  /**
   * Gives deletes of other pods on the same networks some time if they are new and were never tried, because one may free
   * an address. `endsMs` is the end of the ADD's look-up.
   */
  async settleNetworks(call: Call, networks: readonly string[], endsMs: number): Promise<void> {
    const { clock, residents } = this.#needs;
    if (residents.hand() === undefined) return;
    for (const group of this.#deletes.onNetworks(networks)) await group.ended(clock, endsMs, call.signal);
  }

  /** Has the resident hand do the due work, several items at once, so that one hung plugin does not hold up the node. */
  #kick(): void {
    const hand = this.#needs.residents.hand();
    if (hand === undefined || this.#isStopped) return;
    for (let due = this.#work.dueCount; due > 0 && this.#busyLanes < lanes; due -= 1) {
      this.#busyLanes += 1;
      this.#run(hand, this.#lane(hand, Number.POSITIVE_INFINITY), () => {
        this.#busyLanes -= 1;
        // For work that became due meanwhile, or lost its hand.
        return this.#work.dueCount > 0;
      });
    }
    if (this.#isRetryingLeaks) return;
    this.#isRetryingLeaks = true;
    this.#run(hand, this.#needs.leaks.retryDue(hand), () => {
      this.#isRetryingLeaks = false;
      return this.#needs.leaks.isAnyWanted;
    });
  }

  /** `ended` tells whether there is more of the kind. */
  #run(hand: Hand, work: Promise<void>, ended: () => boolean): void {
    const running = work
      .catch((thrown: unknown) => {
        if (!hand.isLost)
          this.#needs.logger.error("Recovery stopped short and will be tried again", {
            reason: toLeveeError(thrown, "Recovery").message,
          });
      })
      .finally(() => {
        this.#running.delete(running);
        if (ended()) this.#kick();
      });
    this.#running.add(running);
  }

  /** Does due work until there is none, or no time for more. */
  async #lane(hand: Hand, endsMs: number): Promise<void> {
    for (;;) {
      const leftMs = endsMs - this.#needs.clock.monotonicMs();
      if (hand.isLost || this.#isStopped || leftMs < borrowMsMin) return;
      const next = this.#work.take();
      if (next === undefined) return;
      await this.#do(hand, next, leftMs);
    }
  }

  async #do(hand: Hand, [key, item]: readonly [string, Work], leftMs: number): Promise<void> {
    const isDone = await this.#tryItem(hand, [key, item], leftMs);
    if (isDone) {
      if (this.#work.finish(key, item)) this.#deletes.done(key);
      return;
    }
    this.#deletes.tried(key);
    this.#work.postpone(key, item, this.#needs.config.undoRetryMs, () => {
      if (this.#needs.residents.hand() === undefined) this.#deletes.wake(key);
      else this.#kick();
    });
  }

  /** Whether the item is done. A failed item is tried again later; only a lost hand ends the round. */
  async #tryItem(hand: Hand, [key, item]: readonly [string, Work], leftMs: number): Promise<boolean> {
    const { clock, journal, logger, item: items } = this.#needs;
    try {
      const late = (): LeveeError => new LeveeError("try-later", "Another operation holds the container");
      using limit = deadline(clock, Math.min(turnMsMax, leftMs), late);
      return await items.carryOut(hand, item, { signal: limit.signal, limitMs: leftMs });
    } catch (thrown) {
      if (hand.isLost) {
        this.#work.again(key, item);
        throw thrown;
      }
      logPostponed(item, toLeveeError(thrown, "Cannot recover"), { clock, journal, logger });
      return false;
    }
  }
}
