import type { Clock } from "../../base/clock.ts";
import { LeveeError, toLeveeError } from "../../base/errors.ts";
import type { DaemonConfig } from "../../config/daemon-config.ts";
import type { Hand } from "../../hands/hand.ts";
import { runDel } from "../../hands/run-chain.ts";
import type { AttachmentRecord } from "../../state/journal/attachment-record.ts";
import type { Journal } from "../../state/journal/journal.ts";
import { chainPlace } from "../chains/chain-place.ts";
import type { ChainReports } from "../chains/chain-reports.ts";
import { lastResult, linksStarted } from "../chains/steps.ts";
import type { ChainNotes } from "../record/chain-notes.ts";
import { subjectOf } from "../record/subject.ts";
import { netnsToPass, type NetnsNow } from "./netns-to-pass.ts";
import type { Suspects } from "./suspects.ts";

/** A chain whose DEL failed, and why. */
export interface ChainFailure {
  /** The index of the chain in the record. */
  readonly index: number;
  readonly error: LeveeError;
}

/** Which hand undoes, where, and in how much time. */
export interface UndoOrder {
  readonly hand: Hand;
  readonly now: NetnsNow;
  readonly limitMs: number;
  /** The verb in the timeline. */
  readonly verb: "DEL" | "UNDO";
  /** Tells the call's permit; absent for work that belongs to no call. */
  readonly reports?: ChainReports | undefined;
}

export interface UndoChainsNeeds {
  readonly clock: Clock;
  readonly config: Pick<DaemonConfig, "binDir">;
  readonly bootId: string;
  readonly journal: Pick<Journal, "inNetns">;
  readonly suspects: Pick<Suspects, "add">;
  readonly notes: Pick<ChainNotes, "ran">;
}

/**
 * Runs DEL for everything a record may have set up: chains last to first, each chain's links last to first.
 * A chain that fails does not stop the others; a lost hand does.
 */
export async function undoChains(
  record: AttachmentRecord,
  order: UndoOrder,
  needs: UndoChainsNeeds,
): Promise<readonly ChainFailure[]> {
  const { hand, now, limitMs, verb, reports } = order;
  const { clock, config, bootId, suspects, notes } = needs;
  const late = (): LeveeError =>
    new LeveeError("delegate-timeout", `Cannot run another plugin as all ${limitMs} ms are used up`);
  const { containerId } = record;
  const netns = netnsToPass(record, now, needs);
  const cniPath = pathFor(hand, record.cniPath, config.binDir);
  const place = chainPlace(
    { containerId, netns, cniPath, limitMs, late },
    { clock, notes, subject: subjectOf(record, verb), reports },
  );
  const failures: ChainFailure[] = [];
  for (const [index, chain] of [...record.chains.entries()].toReversed()) {
    const linksDone = startedLinks(record, index, bootId);
    if (linksDone === 0) continue;
    reports?.begin(chain);
    let isOk = false;
    try {
      await runDel(hand, chain, place, { result: record.results[index] ?? lastResult(record, index), linksDone });
      isOk = true;
    } catch (thrown) {
      if (hand.isLost) {
        // Its plugin may still be at work; the next undo must wait for the end of that process.
        suspects.add(record.token, hand.identity);
        throw thrown;
      }
      failures.push({ index, error: toLeveeError(thrown, `Cannot undo ${chain.network}`) });
    } finally {
      reports?.end(isOk);
    }
  }
  return failures;
}

/** The CNI_PATH of this call, then ADD's: plugins may have moved since. */
function pathFor(hand: Hand, recorded: string, binDir: string): string {
  const paths = hand.isResident ? [recorded, hand.cniPath] : [hand.cniPath, recorded];
  const folders = [...paths, binDir].flatMap((path) => path.split(":")).filter((folder) => folder !== "");
  return [...new Set(folders)].join(":");
}

function startedLinks(record: AttachmentRecord, index: number, bootId: string): number {
  const all = record.chains[index]?.links.length ?? 0;
  const isFinished = record.phase === "committed" || record.phase === "acknowledged";
  // Steps are written, not synced: after a reboot the journal may lack some, so all are undone.
  if (isFinished || record.bootId !== bootId) return all;
  // A plugin that was not found has done nothing, and cannot undo it.
  return linksStarted(record, index, record.failure?.code === "delegate-missing" ? 0 : 1);
}
