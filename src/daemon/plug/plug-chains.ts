import type { Admission } from "../../admission/admission.ts";
import type { JsonText } from "../../base/brand.ts";
import type { Clock } from "../../base/clock.ts";
import type { DaemonConfig } from "../../config/daemon-config.ts";
import type { AttachmentRecord } from "../../state/journal/attachment-record.ts";
import type { Journal } from "../../state/journal/journal.ts";
import { RunChains } from "../attach/run-chains.ts";
import type { ChainNotes } from "../record/chain-notes.ts";
import { pathFor } from "../undo/undo-chains.ts";
import type { PlugWork } from "./plug-work.ts";
import { residentCaller } from "./resident-caller.ts";

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
    using _lane = await work.hand.places?.lanes.take();
    const { config } = this.#needs;
    // What Multus has attached came without a CNI_PATH.
    const cniPath = record.cniPath === "" ? pathFor(work.hand, "", config.binDir) : record.cniPath;
    return await this.#runChains.run(residentCaller(work, this.#needs), { ...record, cniPath }, work.reports);
  }
}
