import type { NetnsPath } from "../../base/brand.ts";
import { LeveeError, toLeveeError } from "../../base/errors.ts";
import { sameNetns, type NetnsIdentity } from "../../base/identity.ts";
import type { Subject } from "../../base/subject.ts";
import type { Hand } from "../../hands/hand.ts";
import { prefix } from "../../hands/explain-outcome.ts";
import { runDel, type ChainPlace, type Ran } from "../../hands/run-chain.ts";
import type { AttachmentRecord } from "../../state/journal/attachment-record.ts";
import type { ChainReports } from "../chains/chain-reports.ts";
import type { NodePorts } from "../node-ports.ts";
import { lastResult, linksStarted } from "../chains/steps.ts";
import { subjectOf } from "../record/subject.ts";
import type { TimelineFacts } from "../record/timeline.ts";

/** A chain whose DEL failed, and why. */
export interface ChainFailure {
  /** Its place in the record. */
  readonly index: number;
  readonly error: LeveeError;
}

/** The namespace as it is now: where the path leads, if anywhere. */
export interface NetnsNow {
  readonly path: string;
  readonly identity: NetnsIdentity | undefined;
}

/**
 * Runs DEL for everything a record may have set up: chains last to first, each chain's links last to first.
 * One chain's failure does not keep the others from being undone; a lost hand does.
 */
export async function dismantle(
  hand: Hand,
  record: AttachmentRecord,
  now: NetnsNow,
  options: DismantleOptions,
): Promise<readonly ChainFailure[]> {
  const { ports, limitMs, verb, reports } = options;
  const endsMs = ports.clock.monotonicMs() + limitMs;
  const subject = subjectOf(record, verb);
  const place: ChainPlace = {
    containerId: record.containerId,
    netns: netnsToPass(record, now, ports.bootId),
    cniPath: pathFor(hand, record.cniPath, ports),
    remainingMs: () => remaining(endsMs - ports.clock.monotonicMs(), limitMs),
    onRan: (ran) => {
      reports?.ran(ran);
      noteRun(ports, subject, ran);
    },
    onProgress: (idleMs, plugin) => reports?.progress(idleMs, plugin),
  };
  const failures: ChainFailure[] = [];
  for (const [index, chain] of [...record.chains.entries()].toReversed()) {
    const linksDone = startedLinks(record, index, ports.bootId);
    if (linksDone === 0) continue;
    reports?.begin(chain);
    let isOk = false;
    try {
      await runDel(hand, chain, place, { result: record.results[index] ?? lastResult(record, index), linksDone });
      isOk = true;
    } catch (thrown) {
      if (hand.isLost) {
        // Its plugin may still be at work; whoever comes next must know whose end to wait for.
        ports.suspects.add(record.token, hand.identity);
        throw thrown;
      }
      failures.push({ index, error: toLeveeError(thrown, `Cannot undo ${chain.network}`) });
    } finally {
      reports?.end(isOk);
    }
  }
  return failures;
}

export interface DismantleOptions {
  readonly ports: NodePorts;
  readonly limitMs: number;
  readonly verb: string;
  readonly reports?: ChainReports | undefined;
}

/**
 * Which namespace the plugins are given: the one that was attached, or none when it is gone or the path leads to
 * another one by now. Records taken over from Multus know no identity, so the caller's word is taken.
 */
export function netnsToPass(record: AttachmentRecord, now: NetnsNow, bootId: string): NetnsPath | "" {
  if (record.netns.identity === undefined) return (now.identity === undefined ? "" : now.path) as NetnsPath | "";
  const isSame = record.bootId === bootId && sameNetns(record.netns.identity, now.identity);
  return isSame ? (now.path as NetnsPath) : "";
}

export function noteRun(ports: NodePorts, subject: Subject, ran: Ran): void {
  const { outcome, chain, link, error } = ran;
  ports.measures.ran(ran);
  ports.timeline.note({ ...subject, verb: ran.verb }, "ran", {
    network: chain.network,
    ifname: chain.ifname,
    plugin: link.type,
    tookMs: Math.round(outcome.wallUs / 100) / 10,
    maxRssKib: outcome.maxRssKib,
    ...(error === undefined ? {} : failedRun(outcome, withoutPlace(error.message, chain))),
    ...(outcome.stderr === "" ? {} : { stderr: outcome.stderr }),
  });
}

function failedRun({ exitCode, signal }: Ran["outcome"], detail: string): TimelineFacts {
  return {
    ...(exitCode === undefined ? {} : { exitCode }),
    ...(signal === undefined ? {} : { signal }),
    detail,
  };
}

/** Network and interface are fields of the entry. */
function withoutPlace(message: string, chain: Ran["chain"]): string {
  const place = `${prefix(chain)}: `;
  return message.startsWith(place) ? message.slice(place.length) : message;
}

/** The path of the call that is being served, then ADD's: plugins may have been moved since. */
function pathFor(hand: Hand, recorded: string, ports: NodePorts): string {
  const paths = hand.isResident ? [recorded, hand.cniPath] : [hand.cniPath, recorded];
  const folders = [...paths, ports.config.binDir].flatMap((path) => path.split(":")).filter((folder) => folder !== "");
  return [...new Set(folders)].join(":");
}

/** Where plugins are looked for when nobody said: the hand's own path, then the configured one. */
export function pluginPath(hand: Hand, ports: NodePorts): string {
  return hand.cniPath === "" ? ports.config.binDir : hand.cniPath;
}

function startedLinks(record: AttachmentRecord, index: number, bootId: string): number {
  const all = record.chains[index]?.links.length ?? 0;
  const isFinished = record.phase === "committed" || record.phase === "acknowledged";
  // Steps are written, not synced: after a reboot the journal may have forgotten some, so all are undone.
  if (isFinished || record.bootId !== bootId) return all;
  // A plugin that was not found has done nothing, and could not be asked to undo it.
  return linksStarted(record, index, record.failure?.code === "delegate-missing" ? 0 : 1);
}

function remaining(leftMs: number, limitMs: number): number {
  if (leftMs > 0) return leftMs;
  throw new LeveeError("delegate-timeout", `Cannot run another plugin as all ${limitMs} ms are used up`);
}
