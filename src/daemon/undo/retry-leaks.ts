import { deadline, type Clock } from "../../base/clock.ts";
import { LeveeError, toLeveeError } from "../../base/errors.ts";
import type { Hand } from "../../hands/hand.ts";
import { noArgs } from "../../cni/cni-args.ts";
import type { AttachmentRecord } from "../../state/journal/attachment-record.ts";
import { leakBackoffMs, type LeakEntry } from "../../state/journal/leak-ledger.ts";
import type { Journal } from "../../state/journal/journal.ts";
import type { Turns } from "../serve/turns.ts";
import type { Suspects } from "./suspects.ts";
import type { Undo } from "./undo.ts";
import { lookAtNetns, type NetnsNow } from "./netns-to-pass.ts";
import { recordedPod } from "../record/subject.ts";

/** After as many tries with the same words, 15 minutes, a plugin has not met a passing trouble. */
const repeatsMin = 5;

/** Background work does not wait long behind a call. */
const turnMsMax = 1_000;
const holder = { verb: "UNDO", cancel: (): void => undefined };

/** New deletes wait for the hand during a round, so hung plugins must not make it long. */
const roundMsMax = 30_000;

/** Half of the runs that the resident hand takes at a time. */
const lanes = 4;

export interface LeakRetriesNeeds {
  readonly clock: Clock;
  readonly journal: Pick<Journal, "all" | "leaks" | "leakResolved" | "leakRetried">;
  readonly turns: Turns;
  readonly suspects: Pick<Suspects, "add" | "proveGone">;
  readonly undo: Pick<Undo, "chains">;
}

/** Tries the leaks again: each at its own due time, or all when a person asks. */
export class LeakRetries {
  readonly #needs: LeakRetriesNeeds;
  readonly #wanted = new Set<string>();

  constructor(needs: LeakRetriesNeeds) {
    this.#needs = needs;
  }

  get isAnyWanted(): boolean {
    return this.#wanted.size > 0;
  }

  wantAll(): void {
    for (const { id } of this.#needs.journal.leaks()) this.#wanted.add(id);
  }

  /**
   * One round, in a few lanes so that one hung plugin does not hold up the others. Leaks that it does not reach stay due
   * for the next one.
   */
  async retryDue(hand: Hand): Promise<void> {
    const { clock } = this.#needs;
    const endsMs = clock.monotonicMs() + roundMsMax;
    const groups = this.#due();
    const lane = async (): Promise<void> => {
      for (let group = groups.shift(); group !== undefined; group = groups.shift())
        for (const entry of group) {
          if (hand.isLost || clock.monotonicMs() > endsMs) return;
          await this.#retry(hand, entry);
        }
    };
    await Promise.all(Array.from({ length: lanes }, lane));
    // Entries that were resolved meanwhile.
    if (!hand.isLost && clock.monotonicMs() <= endsMs) this.#wanted.clear();
  }

  /** Leaks of one container together, because only one operation at a time may work on it. Those that hung go last. */
  #due(): (readonly LeakEntry[])[] {
    const { clock, journal } = this.#needs;
    const due = journal
      .leaks()
      .filter((entry) => entry.chains.length > 0 && (this.#wanted.has(entry.id) || isDue(entry, clock.wallMs())));
    const groups = Map.groupBy(due, ({ containerId, hasTimedOut }) => `${hasTimedOut} ${containerId}`);
    const isHung = ([entry]: readonly LeakEntry[]): number => Number(entry?.hasTimedOut);
    return [...groups.values()].toSorted((left, right) => isHung(left) - isHung(right));
  }

  async #retry(hand: Hand, entry: LeakEntry): Promise<void> {
    this.#wanted.delete(entry.id);
    if (this.#needs.turns.isBusy(entry.containerId) || isAttachedAgain(entry, this.#needs)) return;
    await retryLeak(hand, entry, this.#needs);
  }
}

/** A due time further away than its pause was set by a wrong wall clock that has been corrected since. */
function isDue({ nextTryWallMs, attempts }: LeakEntry, nowMs: number): boolean {
  return nextTryWallMs <= nowMs || nextTryWallMs - nowMs > leakBackoffMs(attempts, 0);
}

/** The same interface of the same container is in use again. Its DEL undoes this too, and resolves the entry. */
function isAttachedAgain(entry: LeakEntry, needs: LeakRetriesNeeds): boolean {
  const ifnames = new Set(entry.chains.map((chain) => chain.ifname));
  return needs.journal
    .all()
    .some(
      (record) => record.containerId === entry.containerId && record.chains.some(({ ifname }) => ifnames.has(ifname)),
    );
}

async function retryLeak(hand: Hand, entry: LeakEntry, needs: LeakRetriesNeeds): Promise<void> {
  const record = recordOf(entry);
  try {
    const late = (): LeveeError => new LeveeError("try-later", "Another operation holds the container");
    using limit = deadline(needs.clock, turnMsMax, late);
    using _turn = await needs.turns.take(entry.containerId, holder, limit.signal);
    if (isAttachedAgain(entry, needs)) return;
    await needs.suspects.proveGone(hand, record);
    const now = await netnsNow(hand, entry);
    const [failure] = await needs.undo.chains(record, { hand, now, verb: "DEL" });
    if (failure === undefined) await needs.journal.leakResolved(entry.id);
    else await needs.journal.leakRetried(entry.id, failure.error.message, failure.hasTimedOut);
  } catch (thrown) {
    if (hand.isLost) {
      needs.suspects.add(record.token, hand.identity);
      throw thrown;
    }
    const { code, message } = toLeveeError(thrown, "Cannot retry");
    // Nothing was tried, so the next round may.
    if (code !== "try-later") await needs.journal.leakRetried(entry.id, message, entry.hasTimedOut);
  }
}

/** A leak without a known namespace is undone without one, because another pod may use that path by now. */
async function netnsNow(hand: Hand, entry: LeakEntry): Promise<NetnsNow> {
  const { path, identity } = entry.netns;
  if (path === "" || identity === undefined) return { path: "", identity: undefined };
  return lookAtNetns(hand, path);
}

/** The leak as a record, in the form that undo takes. */
function recordOf(entry: LeakEntry): AttachmentRecord {
  const { containerId, ifname, chains, results, netns, cniPath, bootId } = entry;
  return {
    token: entry.id,
    containerId,
    ifname,
    netns,
    bootId,
    pod: entry.pod ?? recordedPod(noArgs),
    cniPath,
    cniVersion: "",
    hand: undefined,
    // Before every ADD: a container that has the interface in that namespace now came after the leak's own.
    startedWallMs: 0,
    chains,
    phase: "acknowledged",
    steps: stepsOf(entry),
    results,
    failure: refusalOf(entry),
    delAttempts: 0,
    origin: "levee",
  };
}

/** The links that succeeded at ADD. An entry is of one chain, whose first links they are. */
function stepsOf({ linksAdded = 0 }: LeakEntry): AttachmentRecord["steps"] {
  const numbers = Array.from({ length: linksAdded }, (_, at) => at + 1);
  return new Map(numbers.map((step) => [step, { step, result: undefined }]));
}

/** A plugin that refuses its request for ever, and refused it at ADD, is undone without it. */
function refusalOf({ repeats, linksAdded, reason }: LeakEntry): AttachmentRecord["failure"] {
  if (repeats < repeatsMin || linksAdded === undefined) return undefined;
  return { code: "delegate-failed", cniCode: 0, message: reason, details: "" };
}
