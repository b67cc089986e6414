import type { JsonText, NetnsPath } from "../../base/brand.ts";
import { LeveeError, toLeveeError } from "../../base/errors.ts";
import { checkGranted } from "../../attachment/granted.ts";
import { mergeResults } from "../../attachment/merge.ts";
import { printResult } from "../../cni/result.ts";
import { routeOps } from "../../hands/route-ops.ts";
import { runAdd, type ChainPlace } from "../../hands/run-chain.ts";
import { prefix } from "../../hands/explain-outcome.ts";
import type { AttachmentRecord } from "../../state/journal/attachment-record.ts";
import type { Chain } from "../../cni/chain.ts";
import type { Call } from "../serve/call.ts";
import type { ChainReports } from "../chains/chain-reports.ts";
import { prepareDeviceInfo } from "../look-up/device-info.ts";
import { noteRun } from "../undo/undo-chains.ts";
import { mirrorSoon } from "./mirror-soon.ts";
import type { Ports } from "../ports.ts";
import { undoRecord } from "../undo/undo.ts";
import { hasRouteEdits, routesStepOf, stepOf } from "../chains/steps.ts";
import { subjectOf } from "../record/subject.ts";
import { tellSoon } from "../tell/tell-attached.ts";
import type { Reply } from "../serve/reply.ts";

/** With the rest of FINISH it fits into a frame. */
const outputBytesMax = 1_000_000;
/** A delegate that is in the middle of its work gets this long to end by itself when its ADD is given up. */
const cancelGraceMs = 5_000;

/**
 * Runs a plan that is in the journal, from wherever it got to, and answers with its result. The first time that is
 * the beginning; for a call that comes back after the daemon was away, it is the step after the last one recorded.
 */
export async function attach(
  call: Call,
  record: AttachmentRecord,
  ports: Ports,
  reports: ChainReports,
): Promise<Reply> {
  try {
    if (record.steps.size === 0) await prepareDeviceInfo(record, ports.config.deviceInfoDir, ports.logger);
    const results = await runChains(call, record, ports, reports);
    // A DEL that waits for this container, or a shim that is gone, wants none of it.
    call.givenUp.throwIfAborted();
    const output = printResult(mergeResults(record.chains, results), record.cniVersion);
    refuseUnsendable(output);
    await ports.journal.commit(record.token, results);
    reports.succeeded();
    mirrorSoon(record.token, ports);
    ports.timeline.note(subjectOf(record, "ADD"), "committed");
    tellSoon(record.token, ports);
    return answerOf(record, output, ports);
  } catch (thrown) {
    // Whoever ended the call knows the reason; the plugin that was killed for it does not.
    const cause: unknown = call.givenUp.aborted ? call.givenUp.reason : thrown;
    const error = toLeveeError(cause, "Cannot attach the pod");
    await reports.failed(error);
    throw await giveUp(call, record, error, { ports, reports });
  }
}

/** Told before the commit, while it can be undone: printed with its indents, a long result may be too much for a frame. */
function refuseUnsendable(output: string): void {
  const size = Buffer.byteLength(output, "utf8");
  if (size <= outputBytesMax) return;
  throw new LeveeError("delegate-failed", `Cannot hand over a result of ${size} bytes: the limit is ${outputBytesMax}`);
}

/** The answer of an ADD that was committed before the daemon went away. */
export function committedAnswer(record: AttachmentRecord, ports: Ports): Reply {
  const results = record.results.filter((result) => result !== undefined);
  // The last daemon may not have got to it.
  tellSoon(record.token, ports);
  return answerOf(record, printResult(mergeResults(record.chains, results), record.cniVersion), ports);
}

function answerOf(record: AttachmentRecord, output: string, ports: Ports): Reply {
  return {
    output,
    delivered: (printed) => delivered(record, printed, ports),
    // The shim's own note says whether the runtime has the result; without one, the attachment goes.
    undelivered: () => ports.recovery.lost(record.token, record.hand),
  };
}

/** Undoes by the same shim, before the runtime hears of the failure. A lost shim's work is left to recovery. */
export async function giveUp(
  call: Call,
  record: AttachmentRecord,
  error: LeveeError,
  { ports, reports }: { readonly ports: Ports; readonly reports?: ChainReports },
): Promise<LeveeError> {
  if (!call.hand.isLost) {
    await noteUndoing(record, error, ports);
    try {
      const current = ports.journal.findByToken(record.token) ?? record;
      const isUndone = await undoRecord(
        current,
        {
          hand: call.hand,
          now: { path: call.header.netns, identity: call.header.netnsIdentity },
          reports: reports?.forUndo(),
        },
        ports,
      );
      return isUndone ? error : withLeak(error);
    } catch (thrown) {
      ports.logger.error("An attachment could not be undone by its own shim", {
        container: record.containerId,
        reason: toLeveeError(thrown, "Undo").message,
      });
    }
  }
  ports.recovery.lost(record.token, call.hand.identity);
  return error;
}

/** Who reads why the pod has no network learns there, too, that something of it is left on the node. */
function withLeak(error: LeveeError): LeveeError {
  const { code, message, cniCode, details } = error;
  return new LeveeError(code, `${message}; part of it could not be undone, see levee leaks`, {
    cniCode,
    details,
    cause: error,
  });
}

/** Lets a restarted daemon answer with the first failure. A full disk must not keep the undo itself from happening. */
async function noteUndoing(record: AttachmentRecord, error: LeveeError, ports: Ports): Promise<void> {
  const failure = { code: error.code, cniCode: error.cniCode, message: error.message, details: error.details };
  await ports.journal.undoing(record.token, failure).catch((thrown: unknown) => {
    ports.logger.warn("The reason of an undo could not be written down", {
      container: record.containerId,
      reason: toLeveeError(thrown, "Journal").message,
    });
  });
}

async function runChains(
  call: Call,
  record: AttachmentRecord,
  ports: Ports,
  reports: ChainReports,
): Promise<readonly JsonText[]> {
  const place = placeOf(call, record, ports, reports);
  const results: JsonText[] = [];
  for (const [chainIndex, chain] of record.chains.entries()) {
    reports.begin(chain);
    let isOk = false;
    try {
      const result = await runLinks(chain, chainIndex);
      if (result !== undefined) checkGranted(chain, result);
      await editRoutes(call, record, chainIndex, ports);
      if (result !== undefined) results.push(result);
      isOk = true;
    } finally {
      reports.end(isOk);
    }
  }
  return results;

  async function runLinks(chain: Chain, chainIndex: number): Promise<JsonText | undefined> {
    let result: JsonText | undefined;
    for (const [linkIndex, link] of chain.links.entries()) {
      const step = stepOf(record.chains, chainIndex, linkIndex);
      const done = record.steps.get(step);
      result =
        done === undefined
          ? await runLink({ chain, link, step, previous: result, undoTimeoutMs: ports.config.addUndoMs })
          : done.result;
    }
    return result;
  }

  async function runLink(add: Parameters<typeof runAdd>[1]): Promise<JsonText> {
    const known = call.resumed?.last?.step === add.step ? call.resumed.last.outcome : undefined;
    const result = await untilCancelled(call, add.step, ports, () => runAdd(call.hand, add, place, known));
    await ports.journal.step(record.token, { step: add.step, result });
    return result;
  }
}

async function editRoutes(call: Call, record: AttachmentRecord, chainIndex: number, ports: Ports): Promise<void> {
  const step = routesStepOf(record.chains, chainIndex);
  const chain = record.chains[chainIndex];
  if (chain === undefined || !hasRouteEdits(chain) || record.steps.has(step)) return;
  const outcome = await untilCancelled(call, step, ports, () =>
    call.hand.routes(record.netns.path as NetnsPath, routeOps(chain), step),
  );
  if (outcome.failure !== undefined) {
    throw new LeveeError("routes-failed", `${prefix(chain)}: Cannot set the default route: ${outcome.message}`);
  }
  ports.timeline.note(subjectOf(record, "ADD"), "routed", { network: chain.network, ifname: chain.ifname });
  await ports.journal.step(record.token, { step, result: undefined });
}

function placeOf(call: Call, record: AttachmentRecord, ports: Ports, reports: ChainReports): ChainPlace {
  const subject = subjectOf(record, "ADD");
  const { addDelegatesMs, addUndoMs } = ports.config;
  const callMs = call.remainingMs() - addUndoMs;
  const endsMs = ports.clock.monotonicMs() + Math.min(addDelegatesMs, callMs);
  return {
    containerId: record.containerId,
    netns: record.netns.path as NetnsPath,
    cniPath: record.cniPath,
    remainingMs: () => {
      const leftMs = endsMs - ports.clock.monotonicMs();
      if (leftMs > 0) return leftMs;
      throw new LeveeError(
        "delegate-timeout",
        callMs < addDelegatesMs
          ? `Cannot run another plugin as the call's time is used up: it had ${call.header.budgetMs} ms, of which ${Math.max(0, Math.round(callMs))} ms were left for plugins and ${addUndoMs} ms are kept for undoing`
          : `Cannot run another plugin as the ${addDelegatesMs} ms for all of them are used up`,
      );
    },
    onRan: (ran) => {
      reports.ran(ran);
      noteRun(ports, subject, ran);
    },
    onProgress: (idleMs, plugin) => reports.progress(idleMs, plugin),
  };
}

/** Lets a running order end by itself for a while when the call is given up, then has it killed. */
async function untilCancelled<T>(call: Call, step: number, ports: Ports, run: () => Promise<T>): Promise<T> {
  call.givenUp.throwIfAborted();
  let stopTimer = (): void => undefined;
  const listener = {
    handleEvent: (): void => {
      stopTimer = ports.clock.after(cancelGraceMs, () => call.hand.kill(step));
    },
  };
  call.givenUp.addEventListener("abort", listener, { once: true });
  try {
    return await run();
  } finally {
    call.givenUp.removeEventListener("abort", listener);
    stopTimer();
  }
}

/** The runtime has the result, or it does not: then the pod will not run, and what was attached for it goes. */
async function delivered(record: AttachmentRecord, printed: boolean, ports: Ports): Promise<void> {
  if (printed) {
    await ports.journal.acknowledge(record.token);
    ports.timeline.note(subjectOf(record, "ADD"), "acknowledged");
    return;
  }
  ports.timeline.note(subjectOf(record, "ADD"), "lost", { detail: "the runtime did not take the result" });
  ports.recovery.lost(record.token, record.hand);
}
