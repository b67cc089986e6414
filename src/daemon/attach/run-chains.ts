import type { Admission } from "../../admission/admission.ts";
import type { JsonText, NetnsPath } from "../../base/brand.ts";
import type { Clock } from "../../base/clock.ts";
import { LeveeError } from "../../base/errors.ts";
import { checkGranted } from "../../attachment/granted.ts";
import type { Chain } from "../../cni/chain.ts";
import type { DaemonConfig } from "../../config/daemon-config.ts";
import { prefix } from "../../hands/explain-outcome.ts";
import { routeOps } from "../../hands/route-ops.ts";
import { runAdd, type AddLink, type ChainPlace } from "../../hands/run-chain.ts";
import type { AttachmentRecord } from "../../state/journal/attachment-record.ts";
import type { Journal } from "../../state/journal/journal.ts";
import type { ChainCaller } from "../chains/chain-caller.ts";
import { chainPlace } from "../chains/chain-place.ts";
import type { ChainReports } from "../chains/chain-reports.ts";
import { hasRouteEdits, routesStepOf, stepOf } from "../chains/steps.ts";
import type { ChainNotes } from "../record/chain-notes.ts";
import { subjectOf } from "../record/subject.ts";

/** How long a running plugin may go on when its ADD is cancelled. */
const cancelGraceMs = 5_000;

export interface RunChainsNeeds {
  readonly clock: Clock;
  readonly config: Pick<DaemonConfig, "addUndoMs">;
  readonly admission: Pick<Admission, "pluginsMs">;
  readonly journal: Pick<Journal, "step">;
  readonly notes: Pick<ChainNotes, "note" | "ran">;
}

/**
 * Runs the chains of a record in order. A new record begins with its first step; a call that comes back after the
 * daemon was away goes on with the step after the last one recorded.
 */
export class RunChains {
  readonly #needs: RunChainsNeeds;

  constructor(needs: RunChainsNeeds) {
    this.#needs = needs;
  }

  /** The result of each chain. */
  async run(call: ChainCaller, record: AttachmentRecord, reports: ChainReports): Promise<readonly JsonText[]> {
    const place = this.#placeOf(call, record, reports);
    const results: JsonText[] = [];
    for (const [index, chain] of record.chains.entries()) {
      reports.begin(chain);
      let isOk = false;
      try {
        const result = await this.#runLinks(call, record, index, place);
        if (result !== undefined) checkGranted(chain, result);
        await this.#editRoutes(call, record, index);
        if (result !== undefined) results.push(result);
        isOk = true;
      } finally {
        reports.end(isOk);
      }
    }
    return results;
  }

  async #runLinks(
    call: ChainCaller,
    record: AttachmentRecord,
    index: number,
    place: ChainPlace,
  ): Promise<JsonText | undefined> {
    const undoTimeoutMs = this.#needs.config.addUndoMs;
    const chain = chainAt(record, index);
    let previous: JsonText | undefined;
    for (const [linkIndex, link] of chain.links.entries()) {
      const step = stepOf(record.chains, index, linkIndex);
      const done = record.steps.get(step);
      previous =
        done === undefined
          ? await this.#runLink(call, record, { chain, link, step, previous, undoTimeoutMs }, place)
          : done.result;
    }
    return previous;
  }

  async #runLink(call: ChainCaller, record: AttachmentRecord, add: AddLink, place: ChainPlace): Promise<JsonText> {
    const known = call.resumed?.last?.step === add.step ? call.resumed.last.outcome : undefined;
    const result = await this.#untilCancelled(call, add.step, () => runAdd(call.hand, add, place, known));
    await this.#needs.journal.step(record.token, { step: add.step, result });
    return result;
  }

  async #editRoutes(call: ChainCaller, record: AttachmentRecord, index: number): Promise<void> {
    const step = routesStepOf(record.chains, index);
    const chain = chainAt(record, index);
    if (!hasRouteEdits(chain) || record.steps.has(step)) return;
    const outcome = await this.#untilCancelled(call, step, () =>
      call.hand.routes(record.netns.path as NetnsPath, routeOps(chain), step),
    );
    if (outcome.failure !== undefined)
      throw new LeveeError("routes-failed", `${prefix(chain)}: Cannot set the default route: ${outcome.message}`);
    const { notes, journal } = this.#needs;
    notes.note(subjectOf(record, "ADD"), "routed", { network: chain.network, ifname: chain.ifname });
    await journal.step(record.token, { step, result: undefined });
  }

  #placeOf(call: ChainCaller, record: AttachmentRecord, reports: ChainReports): ChainPlace {
    const { clock, notes, admission } = this.#needs;
    const limitMs = admission.pluginsMs(call.remainingMs());
    const late = (): LeveeError =>
      new LeveeError(
        "delegate-timeout",
        `Cannot run another plugin as the time for plugins is used up: they had ${Math.max(0, Math.round(limitMs))} ms of the call's ${call.header.budgetMs} ms`,
      );
    const { containerId, cniPath } = record;
    const netns = record.netns.path as NetnsPath;
    return chainPlace(
      { containerId, netns, cniPath, limitMs, late },
      { clock, notes, subject: subjectOf(record, "ADD"), reports },
    );
  }

  /** When the call is cancelled, lets the running order end by itself for a while and then kills it. */
  async #untilCancelled<T>(call: ChainCaller, step: number, run: () => Promise<T>): Promise<T> {
    call.givenUp.throwIfAborted();
    let stopTimer = (): void => undefined;
    const listener = {
      handleEvent: (): void => {
        stopTimer = this.#needs.clock.after(cancelGraceMs, () => call.hand.kill(step));
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
}

function chainAt(record: AttachmentRecord, index: number): Chain {
  const chain = record.chains[index];
  if (chain === undefined) throw new LeveeError("internal", `There is no chain ${index} in the record`);
  return chain;
}
