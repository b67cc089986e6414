import type { Clock } from "../../base/clock.ts";
import { LeveeError } from "../../base/errors.ts";
import type { DaemonConfig } from "../../config/daemon-config.ts";
import type { Chain, ChainLink } from "../../cni/chain.ts";
import { isNotStarted } from "../../hands/explain-outcome.ts";
import type { Hand } from "../../hands/hand.ts";
import { runDel, type LinkFailure } from "../../hands/run-del.ts";
import { shareMs } from "../../hands/share-of-time.ts";
import type { ChainPlace } from "../../hands/run-chain.ts";
import type { AttachmentRecord } from "../../state/journal/attachment-record.ts";
import type { Journal } from "../../state/journal/journal.ts";
import { chainPlace } from "../chains/chain-place.ts";
import type { ChainReports } from "../chains/chain-reports.ts";
import { lastResult, linksStarted } from "../chains/steps.ts";
import type { ChainNotes } from "../record/chain-notes.ts";
import { subjectOf } from "../record/subject.ts";
import { goneNetnsPath, netnsToPass, type NetnsNow } from "./netns-to-pass.ts";
import type { Suspects } from "./suspects.ts";

/** A chain whose DEL failed, and why. */
export interface ChainFailure {
  /** The index of the chain in the record. */
  readonly index: number;
  /** The links that are still to undo. */
  readonly links: readonly ChainLink[];
  /** How many of these succeeded at ADD: the first ones. */
  readonly linksAdded: number;
  readonly error: LeveeError;
  readonly hasTimedOut: boolean;
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
  /** Indexes of the chains that ran out of time when this was tried before. They go last. */
  readonly last?: readonly number[] | undefined;
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
 * Runs DEL for everything a record may have set up: chains last to first, each chain's links last to first. Neither a
 * chain nor a link that fails stops the others, and each chain has a share of the time; a lost hand stops all.
 */
export async function undoChains(
  record: AttachmentRecord,
  order: UndoOrder,
  needs: UndoChainsNeeds,
): Promise<readonly ChainFailure[]> {
  const { clock, bootId } = needs;
  // The time counts from here: a wait for the hand is no failure of the plugins.
  using _lane = await order.hand.places?.lanes.take();
  const endsMs = clock.monotonicMs() + order.limitMs;
  const due = chainsDue(record, order.last ?? [], bootId);
  const failures: ChainFailure[] = [];
  for (const [at, chain] of due.entries()) {
    const limitMs = shareMs(endsMs - clock.monotonicMs(), due.length - 1 - at);
    const failed = await undoChain(record, chain, { ...order, limitMs }, needs);
    if (failed.length > 0) failures.push(chainFailure(record, chain, failed));
  }
  return failures;
}

async function undoChain(
  record: AttachmentRecord,
  { index, chain, linksDone }: DueChain,
  order: UndoOrder,
  needs: UndoChainsNeeds,
): Promise<readonly LinkFailure[]> {
  const { hand, reports } = order;
  reports?.begin(chain);
  let failed: readonly LinkFailure[] | undefined;
  try {
    failed = await runDel(hand, chain, placeFor(record, chain, order, needs), {
      result: record.results[index] ?? lastResult(record, index),
      linksDone,
      linksAdded: addedLinks(record, index),
      refusal: record.failure?.message,
    });
    return failed;
  } catch (thrown) {
    // Its plugin may still be at work; the next undo must wait for the end of that process.
    if (hand.isLost) needs.suspects.add(record.token, hand.identity);
    throw thrown;
  } finally {
    reports?.end(failed?.length === 0);
  }
}

interface DueChain {
  readonly index: number;
  readonly chain: Chain;
  readonly linksDone: number;
}

/** The chains to undo in their order: the last first, and the ones in `last` after all others. */
function chainsDue(record: AttachmentRecord, last: readonly number[], bootId: string): readonly DueChain[] {
  return [...record.chains.entries()]
    .map(([index, chain]) => ({ index, chain, linksDone: startedLinks(record, index, bootId) }))
    .filter(({ linksDone }) => linksDone > 0)
    .toReversed()
    .toSorted((left, right) => Number(last.includes(left.index)) - Number(last.includes(right.index)));
}

function placeFor(record: AttachmentRecord, chain: Chain, order: UndoOrder, needs: UndoChainsNeeds): ChainPlace {
  const { hand, now, limitMs, verb, reports } = order;
  const { clock, config, notes } = needs;
  const late = (): LeveeError =>
    new LeveeError("delegate-timeout", "Cannot run another plugin as the time of its network is used up");
  const { containerId } = record;
  const netns = netnsToPass(record, now, needs) || goneNetnsPath(chain, now);
  const cniPath = pathFor(hand, record.cniPath, config.binDir);
  return chainPlace(
    { containerId, netns, cniPath, limitMs, late },
    { clock, notes, subject: subjectOf(record, verb), reports },
  );
}

function chainFailure(
  record: AttachmentRecord,
  { index, chain }: DueChain,
  failed: readonly LinkFailure[],
): ChainFailure {
  const errors = failed.map(({ error }) => error);
  return {
    index,
    linksAdded: failed.filter(({ at }) => at < addedLinks(record, index)).length,
    links: chain.links.filter((_link, at) => failed.some((failure) => failure.at === at)),
    error: joinErrors(errors),
    hasTimedOut: errors.some(({ code }) => code === "delegate-timeout"),
  };
}

/** One error for all. A single one stays as it is, because it has the plugin's own code. */
export function joinErrors(errors: readonly LeveeError[]): LeveeError {
  const [first, ...rest] = errors;
  if (first !== undefined && rest.length === 0) return first;
  return new LeveeError("delegate-failed", errors.map(({ message }) => message).join("; "));
}

/** The CNI_PATH of this call, then ADD's: plugins may have moved since. */
export function pathFor(hand: Hand, recorded: string, binDir: string): string {
  const paths = hand.isResident ? [recorded, hand.cniPath] : [hand.cniPath, recorded];
  const folders = [...paths, binDir].flatMap((path) => path.split(":")).filter((folder) => folder !== "");
  return [...new Set(folders)].join(":");
}

function startedLinks(record: AttachmentRecord, index: number, bootId: string): number {
  const all = record.chains[index]?.links.length ?? 0;
  // Steps are written, not synced: after a reboot the journal may lack some, so all are undone.
  if (isCommitted(record) || record.bootId !== bootId) return all;
  // A plugin that could not be started has done nothing, and cannot undo it.
  return linksStarted(record, index, isNotStarted(record.failure?.code ?? "") ? 0 : 1);
}

/** All links of a finished ADD, also of a rebuilt one. A leak has no phase of its own, only the steps that succeeded. */
function addedLinks(record: AttachmentRecord, index: number): number {
  if (isCommitted(record) && record.failure === undefined) return record.chains[index]?.links.length ?? 0;
  return linksStarted(record, index, 0);
}

function isCommitted({ phase }: AttachmentRecord): boolean {
  return phase === "committed" || phase === "acknowledged";
}
