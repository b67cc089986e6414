import { deadline, type Cancel, type Clock } from "../../base/clock.ts";
import { LeveeError, toLeveeError } from "../../base/errors.ts";
import type { Logger } from "../../base/log.ts";
import type { ProcessIdentity } from "../../base/identity.ts";
import { podArgs, type CniArgs } from "../../cni/cni-args.ts";
import type { DaemonConfig } from "../../config/daemon-config.ts";
import type { Hand } from "../../hands/hand.ts";
import type { AttachmentRecord } from "../../state/journal/attachment-record.ts";
import type { Journal } from "../../state/journal/journal.ts";
import type { Call } from "../serve/call.ts";
import type { OfflineDelete, OfflineFolder } from "./offline-folder.ts";
import type { RecoverItem } from "./recover-item.ts";
import { isDue, isSamePod, logPostponed, newWork, offlineText, type Work } from "./recovery-work.ts";
import type { Residents } from "./residents.ts";
import type { LeakRetries } from "./retry-leaks.ts";
import type { Suspects } from "./suspects.ts";

/** How often a waiting ADD checks whether the deletes before it are done. */
const settlePollMs = 20;
/** An item that gets no turn within this time is tried again later. */
const turnMsMax = 10_000;
/** How many runs the resident hand takes at a time. */
const lanes = 8;
/** With less time than this, a call's own shim begins no work of another container. */
const borrowMsMin = 1_000;

export interface RecoveryNeeds {
  readonly clock: Clock;
  readonly config: Pick<DaemonConfig, "undoRetryMs" | "addLookupMs">;
  readonly logger: Logger;
  readonly journal: Pick<Journal, "all" | "delFailed" | "findByToken">;
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
  readonly #items = new Map<string, Work>();
  #stop: Cancel = () => undefined;
  #isStopped = false;
  #draining: Promise<void> | undefined;

  constructor(needs: RecoveryNeeds) {
    this.#needs = needs;
  }

  /** Finds the unfinished work of the last daemon, and looks for due work from now on. */
  start(): void {
    for (const record of this.#needs.journal.all()) {
      const isWanted = record.phase === "acknowledged" && record.delAttempts === 0;
      if (!isWanted)
        this.#add(record.token, { kind: "record", token: record.token, isDelete: false, isInherited: true });
    }
    this.#logOffline();
    this.#stop = this.#needs.clock.every(this.#needs.config.undoRetryMs, () => this.#kick());
    this.#kick();
  }

  /** Takes no new work. Shims that are disconnected from here on are not lost: they come back to the next daemon. */
  stop(): Promise<void> {
    this.#isStopped = true;
    this.#stop();
    return this.#draining ?? Promise.resolve();
  }

  /** Whether a record waits for its undo. */
  isPending(token: string): boolean {
    return this.#items.has(token);
  }

  /** Whether a delete of it, made while the daemon was away, is still due. */
  isDeletePending({ containerId, ifname }: Pick<AttachmentRecord, "containerId" | "ifname">): boolean {
    const found = this.#offlineDeletes().find(
      ({ request }) => request.containerId === containerId && request.ifname === ifname,
    );
    // A later DEL may have carried it out and removed its file.
    return found !== undefined && this.#needs.offline.has(found.request.name);
  }

  addResident(hand: Hand): void {
    this.#needs.residents.add(hand);
    this.#kick();
  }

  /** A shim was lost during an ADD, or before its result was acknowledged. */
  lost(token: string, hand: ProcessIdentity | undefined): void {
    if (hand !== undefined) this.#needs.suspects.add(token, hand);
    this.#add(token, { kind: "record", token, isDelete: false, isInherited: false });
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
    this.#add(token, { kind: "record", token, isDelete: true, isInherited: false });
    this.#kick();
  }

  offlineDelete(request: OfflineDelete): void {
    this.#add(request.name, { kind: "offline", request });
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
   * Lets an ADD wait for deletes that were made while the daemon was away. Deletes of its own pod must be done, because
   * two sandboxes of one pod must not overlap. Other deletes that were never tried get some time, because one may free an
   * address of the same network. Without a resident hand, the call's own shim does the work.
   */
  async settleBefore(call: Call, args: CniArgs): Promise<void> {
    if (this.#items.size === 0) return;
    const { clock, config } = this.#needs;
    const endsMs = clock.monotonicMs() + config.addLookupMs;
    await this.#lend(call.hand, endsMs);
    while (this.#mustWait(args) && clock.monotonicMs() < endsMs) {
      await clock.sleep(settlePollMs, call.signal);
      await this.#lend(call.hand, endsMs);
    }
    if (!this.#isOwnLeft(args)) return;
    const { namespace = "", name = "" } = podArgs(args);
    throw new LeveeError(
      "try-later",
      `Cannot attach ${namespace}/${name} yet as the delete of its earlier sandbox is still due`,
    );
  }

  async #lend(hand: Hand, endsMs: number): Promise<void> {
    if (this.#needs.residents.hand() === undefined) await this.#drainWith(hand, endsMs);
    else this.#kick();
  }

  #mustWait(args: CniArgs): boolean {
    const isFreshLeft = this.#offlineDeletes().some(({ attempts }) => attempts === 0);
    return this.#isOwnLeft(args) || (isFreshLeft && this.#needs.residents.hand() !== undefined);
  }

  #isOwnLeft(args: CniArgs): boolean {
    return this.#offlineDeletes().some(({ request }) => isSamePod(request.args, args));
  }

  /** A known delete keeps its pause. A record comes here because something new has happened, so it is due at once. */
  #add(key: string, what: Parameters<typeof newWork>[0]): void {
    if (what.kind === "record" || !this.#items.has(key)) this.#items.set(key, newWork(what));
  }

  #offlineDeletes(): readonly (Work & { readonly kind: "offline" })[] {
    return [...this.#items.values()].filter((item) => item.kind === "offline");
  }

  #logOffline(): void {
    const count = this.#offlineDeletes().length;
    if (count > 0) this.#needs.logger.info(offlineText(count, this.#needs.residents.hand() !== undefined));
  }

  #kick(): void {
    const hand = this.#needs.residents.hand();
    if (hand === undefined || this.#draining !== undefined || this.#isStopped) return;
    this.#draining = this.#drainWith(hand, Number.POSITIVE_INFINITY)
      .then(() => this.#needs.leaks.retryDue(hand))
      .catch((thrown: unknown) => {
        if (!hand.isLost)
          this.#needs.logger.error("Recovery stopped short and will be tried again", {
            reason: toLeveeError(thrown, "Recovery").message,
          });
      })
      .finally(() => {
        this.#draining = undefined;
        // For work that became due meanwhile, or lost its hand.
        const nowMs = this.#needs.clock.monotonicMs();
        if (this.#needs.leaks.isAnyWanted || [...this.#items.values()].some((item) => isDue(item, nowMs))) this.#kick();
      });
  }

  /** Does all due work. The resident hand does several items at once, so that one hung plugin does not hold up the node. */
  async #drainWith(hand: Hand, endsMs: number): Promise<void> {
    const lane = async (): Promise<void> => {
      for (;;) {
        const leftMs = endsMs - this.#needs.clock.monotonicMs();
        if (hand.isLost || this.#isStopped || leftMs < borrowMsMin) return;
        const next = [...this.#items].find(([, item]) => isDue(item, this.#needs.clock.monotonicMs()));
        if (next === undefined) return;
        await this.#do(hand, next, leftMs);
      }
    };
    await Promise.all(Array.from({ length: hand.isResident ? lanes : 1 }, lane));
  }

  async #do(hand: Hand, [key, item]: readonly [string, Work], leftMs: number): Promise<void> {
    // No other lane takes it meanwhile.
    item.notBeforeMs = Number.POSITIVE_INFINITY;
    const isDone = await this.#tryItem(hand, item, leftMs);
    if (!isDone) this.#postpone(item);
    else if (this.#items.get(key) === item) this.#items.delete(key);
  }

  #postpone(item: Work): void {
    const { clock, config } = this.#needs;
    const pauseMs = Math.min(item.pauseMs, config.undoRetryMs);
    item.pauseMs = pauseMs * 2;
    item.attempts += 1;
    item.notBeforeMs = clock.monotonicMs() + pauseMs;
    clock.after(pauseMs + 1, () => this.#kick());
  }

  /** Whether the item is done. A failed item is tried again later; only a lost hand ends the round. */
  async #tryItem(hand: Hand, item: Work, leftMs: number): Promise<boolean> {
    const { clock, journal, logger, item: items } = this.#needs;
    try {
      using limit = deadline(
        clock,
        Math.min(turnMsMax, leftMs),
        () => new LeveeError("try-later", "Another operation holds the container"),
      );
      return await items.carryOut(hand, item, { signal: limit.signal, limitMs: leftMs });
    } catch (thrown) {
      if (hand.isLost) {
        item.notBeforeMs = 0;
        throw thrown;
      }
      logPostponed(item, toLeveeError(thrown, "Cannot recover"), { clock, journal, logger });
      return false;
    }
  }
}
