import type { Admission } from "../../admission/admission.ts";
import type { JsonText } from "../../base/brand.ts";
import type { Clock } from "../../base/clock.ts";
import type { DaemonConfig } from "../../config/daemon-config.ts";
import type { AttachmentRecord } from "../../state/journal/attachment-record.ts";
import type { Journal } from "../../state/journal/journal.ts";
import { RunChains } from "../attach/run-chains.ts";
import type { ChainNotes } from "../record/chain-notes.ts";
import { pathFor } from "../undo/undo-chains.ts";
import { HandShare } from "./hand-share.ts";
import type { PlugWork } from "./plug-work.ts";

export interface PlugChainsNeeds {
  readonly clock: Clock;
  readonly config: Pick<DaemonConfig, "addUndoMs" | "addDelegatesMs" | "binDir">;
  readonly admission: Pick<Admission, "pluginsMs">;
  readonly journal: Pick<Journal, "plugStep">;
  readonly notes: Pick<ChainNotes, "note" | "ran">;
}

/** Runs the chains of a change by the resident hand, as an ADD runs its own by its shim. */
export class PlugChains {
  readonly #needs: PlugChainsNeeds;
  readonly #runChains: RunChains;

  constructor(needs: PlugChainsNeeds) {
    this.#needs = needs;
    const step: Journal["step"] = (token, done) => needs.journal.plugStep(token, done);
    this.#runChains = new RunChains({ ...needs, journal: { step } });
  }

  /** The result of each chain. The time of the plugins begins when the hand is free for them. */
  async add(work: PlugWork, record: AttachmentRecord): Promise<readonly JsonText[]> {
    const { clock, config } = this.#needs;
    using _lane = await work.hand.places?.lanes.take();
    const budgetMs = config.addDelegatesMs + config.addUndoMs;
    const endsMs = clock.monotonicMs() + budgetMs;
    const caller = {
      hand: new HandShare(work.hand),
      givenUp: work.givenUp,
      resumed: undefined,
      header: { budgetMs },
      remainingMs: () => endsMs - clock.monotonicMs(),
    };
    // What Multus has attached came without a CNI_PATH.
    const cniPath = record.cniPath === "" ? pathFor(work.hand, "", config.binDir) : record.cniPath;
    return await this.#runChains.run(caller, { ...record, cniPath }, work.reports);
  }
}
