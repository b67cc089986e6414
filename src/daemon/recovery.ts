import { deadline, type Cancel } from "../base/clock.ts";
import { LeveeError, toLeveeError } from "../base/errors.ts";
import type { ProcessIdentity } from "../base/identity.ts";
import { podArgs, type CniArgs } from "../cni/cni-args.ts";
import type { Hand } from "../hands/hand.ts";
import type { AttachmentRecord } from "../state/attachment-record.ts";
import type { Call } from "./call.ts";
import type { OfflineDelete } from "./offline-folder.ts";
import type { NodePorts } from "./node-ports.ts";
import { recoverOfflineDelete, recoverRecord } from "./recover-item.ts";
import { retryDueLeaks } from "./retry-leaks.ts";

/** How often a waiting ADD looks whether the deletes before it are done. */
const settlePollMs = 20;
/** The first pause of work that cannot be done yet: a killed shim and its turn are gone in moments. Then longer ones, up to undoRetryMs. */
const firstPauseMs = 50;
/** A turn that does not come in this time is tried again later. */
const turnMsMax = 10_000;

/** Work that a lost shim, or a time without a daemon, has left behind. */
type Item =
  | ({ readonly kind: "record"; readonly token: string; readonly isDoubtful?: boolean } & Due)
  | ({ readonly kind: "offline"; readonly request: OfflineDelete } & Due);

interface Due {
  notBeforeMs: number;
  pauseMs: number;
}

function dueNow(): Due {
  return { notBeforeMs: 0, pauseMs: firstPauseMs };
}

/**
 * The work that belongs to no call: undoing what a lost shim left, deletes made while the daemon was away, and the
 * leak ledger. The resident hand does it; without one, the next shim that connects does what it may.
 */
export class Recovery {
  readonly #ports: NodePorts;
  readonly #items = new Map<string, Item>();
  readonly #residents = new Map<Hand, number>();
  #stop: Cancel = () => undefined;
  #isStopped = false;
  #draining: Promise<void> | undefined;

  constructor(ports: NodePorts) {
    this.#ports = ports;
  }

  /** Finds what an earlier run of the daemon left unfinished, and looks for due work from now on. */
  start(): void {
    // The line that says that the runtime has its result may be among those that were lost.
    const isDoubtful = this.#ports.journal.quarantined().some(({ source }) => source === "journal");
    for (const record of this.#ports.journal.all()) {
      const isWanted = record.phase === "acknowledged" && record.delAttempts === 0;
      if (!isWanted) this.#add(record.token, { kind: "record", token: record.token, isDoubtful, ...dueNow() });
    }
    this.#stop = this.#ports.clock.every(this.#ports.config.undoRetryMs, () => this.#kick());
    this.#kick();
  }

  /** No new work: shims that are cut off from here on are not lost, they come back to the next daemon. */
  stop(): Promise<void> {
    this.#isStopped = true;
    this.#stop();
    return this.#draining ?? Promise.resolve();
  }

  get residents(): readonly { readonly hand: Hand; readonly sinceWallMs: number }[] {
    return [...this.#residents].map(([hand, sinceWallMs]) => ({ hand, sinceWallMs }));
  }

  /** Records that wait for somebody to undo them. */
  isPending(token: string): boolean {
    return this.#items.has(token);
  }

  addResident(hand: Hand): void {
    this.#residents.set(hand, this.#ports.clock.wallMs());
    hand.lost.addEventListener("abort", () => this.#residents.delete(hand), { once: true });
    this.#kick();
  }

  /** A shim went away in the middle of an ADD, or before its result was acknowledged. */
  lost(token: string, hand: ProcessIdentity | undefined): void {
    if (hand !== undefined) this.#ports.suspects.add(token, hand);
    this.#add(token, { kind: "record", token, ...dueNow() });
    this.#kick();
  }

  /** A shim went away in the middle of a DEL. The journal keeps the wish, so that a restart does not forget it. */
  lostDelete(token: string, hand: ProcessIdentity): void {
    if (this.#isStopped) return;
    this.#ports.journal.delFailed(token, "the shim that was deleting it went away").catch((thrown: unknown) => {
      this.#ports.logger.error("A lost DEL could not be written down", {
        reason: toLeveeError(thrown, "Journal").message,
      });
    });
    this.lost(token, hand);
  }

  offlineDelete(request: OfflineDelete): void {
    this.#add(request.name, { kind: "offline", request, ...dueNow() });
    this.#kick();
  }

  /** Throws unless nothing of the hands that worked on this record is running any more. */
  proveGone(hand: Hand, record: AttachmentRecord): Promise<void> {
    return this.#ports.suspects.proveGone(hand, record);
  }

  /**
   * An ADD waits for deletes that were made while the daemon was away: of its own pod, because two sandboxes of one pod
   * must not overlap, and of any other, because an address of the same network may be freed by it. The first must be
   * done, the others get a while. Where there is no resident hand, this call's own shim lends itself.
   */
  async settleBefore(call: Call, args: CniArgs): Promise<void> {
    if (this.#items.size === 0) return;
    const { clock, config } = this.#ports;
    const endsMs = clock.monotonicMs() + config.addLookupMs;
    const isOwnLeft = (): boolean => this.#offlineDeletes().some((request) => isSamePod(request.args, args));
    if (this.#resident() === undefined) await this.#drainWith(call.hand, endsMs);
    while (
      (this.#resident() === undefined ? isOwnLeft() : this.#offlineDeletes().length > 0) &&
      clock.monotonicMs() < endsMs
    ) {
      await clock.sleep(settlePollMs, call.signal);
      if (this.#resident() === undefined) await this.#drainWith(call.hand, endsMs);
      else this.#kick();
    }
    if (isOwnLeft()) {
      throw new LeveeError(
        "try-later",
        `Cannot attach ${podArgs(args).namespace ?? ""}/${podArgs(args).name ?? ""} yet as an earlier sandbox of it is still to be deleted`,
      );
    }
  }

  #add(key: string, item: Item): void {
    this.#items.set(key, item);
  }

  #resident(): Hand | undefined {
    return [...this.#residents.keys()].find((hand) => !hand.isLost);
  }

  #offlineDeletes(): readonly OfflineDelete[] {
    return [...this.#items.values()].flatMap((item) => (item.kind === "offline" ? [item.request] : []));
  }

  #kick(): void {
    const hand = this.#resident();
    if (hand === undefined || this.#draining !== undefined || this.#isStopped) return;
    this.#draining = this.#drainWith(hand, Number.POSITIVE_INFINITY)
      .then(() => retryDueLeaks(hand, this.#ports))
      .catch((thrown: unknown) => {
        if (!hand.isLost)
          this.#ports.logger.error("Recovery stopped short and will be tried again", {
            reason: toLeveeError(thrown, "Recovery").message,
          });
      })
      .finally(() => {
        this.#draining = undefined;
        // What became due meanwhile, or lost its hand.
        const nowMs = this.#ports.clock.monotonicMs();
        if ([...this.#items.values()].some((item) => item.notBeforeMs <= nowMs)) this.#kick();
      });
  }

  async #drainWith(hand: Hand, endsMs: number): Promise<void> {
    const { clock } = this.#ports;
    for (const [key, item] of this.#items) {
      if (hand.isLost || clock.monotonicMs() > endsMs) return;
      if (item.notBeforeMs > clock.monotonicMs()) continue;
      // Nobody else tries it meanwhile.
      item.notBeforeMs = Number.POSITIVE_INFINITY;
      const isDone = await this.#tryItem(hand, item);
      if (!isDone) this.#postpone(item);
      else if (this.#items.get(key) === item) this.#items.delete(key);
    }
  }

  #postpone(item: Item): void {
    const { clock, config } = this.#ports;
    const pauseMs = Math.min(item.pauseMs, config.undoRetryMs);
    item.pauseMs = pauseMs * 2;
    item.notBeforeMs = clock.monotonicMs() + pauseMs;
    clock.after(pauseMs + 1, () => this.#kick());
  }

  /** Whether the item is dealt with. What cannot be done now is tried again later; only a lost hand ends the round. */
  async #tryItem(hand: Hand, item: Item): Promise<boolean> {
    const ports = this.#ports;
    try {
      using limit = deadline(
        ports.clock,
        turnMsMax,
        () => new LeveeError("try-later", "Another operation holds the container"),
      );
      if (item.kind === "offline")
        return await recoverOfflineDelete(hand, item.request, { ports, signal: limit.signal });
      const { isDoubtful = false } = item;
      return await recoverRecord(hand, item.token, { ports, signal: limit.signal, isDoubtful });
    } catch (thrown) {
      if (hand.isLost) {
        item.notBeforeMs = 0;
        throw thrown;
      }
      const error = toLeveeError(thrown, "Cannot recover");
      if (error.code !== "try-later")
        ports.logger.warn("Recovery of one attachment failed and will be tried again", { reason: error.message });
      return false;
    }
  }
}

function isSamePod(leftArgs: CniArgs, rightArgs: CniArgs): boolean {
  const left = podArgs(leftArgs);
  const right = podArgs(rightArgs);
  return left.name !== undefined && left.name === right.name && left.namespace === right.namespace;
}
