import type { ContainerId, NetnsPath } from "../../base/brand.ts";
import type { Clock } from "../../base/clock.ts";
import type { LeveeError } from "../../base/errors.ts";
import type { Subject } from "../../base/subject.ts";
import type { ChainPlace } from "../../hands/run-chain.ts";
import type { ChainNotes } from "../record/chain-notes.ts";
import type { ChainReports } from "./chain-reports.ts";

/** Where the plugins of one record run, and how long they may take together. */
export interface PlaceFacts {
  readonly containerId: ContainerId;
  readonly netns: NetnsPath | "";
  readonly cniPath: string;
  readonly limitMs: number;
  /** The error for a plugin that finds no time left. */
  readonly late: () => LeveeError;
}

/** The parts that are told what the plugins do. */
export interface PlaceWitnesses {
  readonly clock: Clock;
  readonly notes: Pick<ChainNotes, "ran">;
  readonly subject: Subject;
  /** Tells the call's permit; absent for work that belongs to no call. */
  readonly reports?: ChainReports | undefined;
}

/** The place for every chain of one ADD, DEL or other undo. */
export function chainPlace(facts: PlaceFacts, { clock, notes, subject, reports }: PlaceWitnesses): ChainPlace {
  const endsMs = clock.monotonicMs() + facts.limitMs;
  return {
    containerId: facts.containerId,
    netns: facts.netns,
    cniPath: facts.cniPath,
    remainingMs: () => {
      const leftMs = endsMs - clock.monotonicMs();
      if (leftMs > 0) return leftMs;
      throw facts.late();
    },
    onRan: (ran) => {
      reports?.ran(ran);
      notes.ran(subject, ran);
    },
    onProgress: (idleMs, plugin) => reports?.progress(idleMs, plugin),
  };
}
