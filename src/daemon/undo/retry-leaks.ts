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
import type { NetnsNow } from "./undo-chains.ts";
import { recordedPod } from "../record/subject.ts";

/** Background work does not queue long behind a call. */
const turnMsMax = 1_000;
const holder = { verb: "UNDO", cancel: (): void => undefined };

/** In this time others wait for the hand: a plugin that hangs must not hold up deletes that have just come in. */
const roundMsMax = 30_000;

export interface LeakRetriesNeeds {
  readonly clock: Clock;
  readonly journal: Pick<Journal, "all" | "leaks" | "leakResolved" | "leakRetried">;
  readonly turns: Turns;
  readonly suspects: Pick<Suspects, "add" | "proveGone">;
  readonly undo: Pick<Undo, "chains">;
}

/** Tries again what could not be undone: each entry at its own due time, or when a person asks for all. */
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

  /** One round; what it does not get to is still due in the next. */
  async retryDue(hand: Hand): Promise<void> {
    const { clock, journal } = this.#needs;
    const endsMs = clock.monotonicMs() + roundMsMax;
    for (const entry of journal.leaks()) {
      if (hand.isLost || clock.monotonicMs() > endsMs) return;
      const isWanted = this.#wanted.delete(entry.id);
      if (entry.chains.length === 0 || !(isWanted || isDue(entry, clock.wallMs()))) continue;
      if (this.#needs.turns.isBusy(entry.containerId) || isAttachedAgain(entry, this.#needs)) continue;
      await retryLeak(hand, entry, this.#needs);
    }
    // What was resolved meanwhile.
    this.#wanted.clear();
  }
}

/** A time that is further away than its pause can have been was set by a wall clock that has been put right since. */
function isDue({ nextTryWallMs, attempts }: LeakEntry, nowMs: number): boolean {
  return nextTryWallMs <= nowMs || nextTryWallMs - nowMs > leakBackoffMs(attempts, 0);
}

/** The same interface of the same container is in use by now. Its own DEL undoes this too, and crosses the entry out. */
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
    else await needs.journal.leakRetried(entry.id, failure.error.message);
  } catch (thrown) {
    if (hand.isLost) {
      needs.suspects.add(record.token, hand.identity);
      throw thrown;
    }
    await needs.journal.leakRetried(entry.id, toLeveeError(thrown, "Cannot retry").message);
  }
}

/** A leak that never knew which namespace it was in is undone without one: another pod may live at that path by now. */
async function netnsNow(hand: Hand, entry: LeakEntry): Promise<NetnsNow> {
  const { path, identity } = entry.netns;
  if (path === "" || identity === undefined) return { path: "", identity: undefined };
  const [found] = await hand.stat([path]);
  return { path, identity: found };
}

/** A leak in the form of the record it is what is left of. */
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
    startedWallMs: entry.sinceWallMs,
    chains,
    phase: "acknowledged",
    steps: new Map(),
    results,
    failure: undefined,
    delAttempts: 0,
    origin: "levee",
  };
}
