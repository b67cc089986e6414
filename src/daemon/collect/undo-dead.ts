import { deadline, type Clock } from "../../base/clock.ts";
import { LeveeError } from "../../base/errors.ts";
import type { Logger } from "../../base/log.ts";
import type { Hand } from "../../hands/hand.ts";
import type { AttachmentRecord } from "../../state/journal/attachment-record.ts";
import type { Journal } from "../../state/journal/journal.ts";
import { subjectOf } from "../record/subject.ts";
import type { Timeline } from "../record/timeline.ts";
import type { Turns } from "../serve/turns.ts";
import type { Suspects } from "../undo/suspects.ts";
import type { Undo } from "../undo/undo.ts";
import { judge } from "./rules.ts";
import { lookAtNamespaces, placeOf } from "./sight.ts";
import { UndoBreaker } from "./undo-breaker.ts";

/** A longer wait means that a call works on the container, so it is not dead. */
const turnMsMax = 1_000;
const holder = { verb: "GC", cancel: (): void => undefined };

export interface DeadRecord {
  readonly record: AttachmentRecord;
  /** Records whose namespaces lived at the first look; they prove sight again at the second. */
  readonly witnesses: readonly AttachmentRecord[];
}

/**
 * `gone`: another call undid it meanwhile. `doubtful`: it is no longer certainly dead. `leaked`: a plugin failed, and
 * the rest is in the leak ledger.
 */
export type DeadEnd = "undone" | "leaked" | "gone" | "doubtful";

interface UndoDeadNeeds {
  readonly clock: Clock;
  readonly bootId: string;
  readonly logger: Logger;
  readonly journal: Pick<Journal, "findByToken" | "inNetns">;
  readonly turns: Turns;
  readonly timeline: Timeline;
  readonly suspects: Suspects;
  readonly undo: Undo;
}

/** Undoes records that the runtime's GC or our own judged dead. */
export class UndoDead {
  readonly #needs: UndoDeadNeeds;
  readonly #breaker: UndoBreaker;

  constructor(needs: UndoDeadNeeds) {
    this.#needs = needs;
    this.#breaker = new UndoBreaker(needs.clock);
  }

  /** All candidates of ended boots, and as many others as the limit of this minute still allows. */
  admit<T extends { readonly record: AttachmentRecord }>(
    candidates: readonly T[],
    limit: number,
    ended: ReadonlySet<string>,
  ): readonly T[] {
    const isOld = ({ record }: T): boolean => ended.has(record.bootId);
    const others = candidates.filter((candidate) => !isOld(candidate));
    return [...candidates.filter(isOld), ...this.#breaker.admit(others, limit)];
  }

  /** Looks once more when its turn comes: the proof must hold at the moment of the undo. */
  async undo(hand: Hand, { record, witnesses }: DeadRecord, signal?: AbortSignal): Promise<DeadEnd> {
    const { clock, bootId, logger, journal, turns, timeline, suspects, undo } = this.#needs;
    const late = (): LeveeError => new LeveeError("try-later", "Another operation holds the container");
    using limit = deadline(clock, turnMsMax, late, signal);
    using _turn = await turns.take(record.containerId, holder, limit.signal);
    const current = journal.findByToken(record.token);
    if (current === undefined) return "gone";
    const sight = await lookAtNamespaces(hand, [current, ...witnesses], journal);
    const { fate, why } = judge(current, sight, bootId);
    if (fate !== "dead") return "doubtful";
    timeline.note(subjectOf(current, "GC"), "asked", { detail: why });
    await suspects.proveGone(hand, current);
    const isClean = await undo.undo(current, { hand, now: { path: "", identity: undefined } });
    logger.info("An attachment whose network namespace is gone was undone", {
      container: record.containerId,
      pod: `${record.pod.namespace}/${record.pod.name}`,
      clean: isClean,
    });
    return isClean ? "undone" : "leaked";
  }
}

/** More than one, as some may end at the same moment. */
const witnessesPerPlace = 4;

/** A few living records of each place. */
export function witnessesOf(alive: ReadonlySet<AttachmentRecord>): readonly AttachmentRecord[] {
  const proofs = [...alive].filter((record) => record.netns.identity !== undefined);
  const byPlace = Map.groupBy(proofs, (record) => placeOf(record.netns.path));
  return [...byPlace.values()].flatMap((records) => records.slice(0, witnessesPerPlace));
}
