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
  readonly #joining: RunChains;
  readonly #returning: RunChains;

  constructor(needs: PlugChainsNeeds) {
    this.#needs = needs;
    const step: Journal["step"] = (token, done) => needs.journal.plugStep(token, done);
    this.#joining = new RunChains({ ...needs, journal: { step } });
    // The change's steps are those of the chains that join: their undo would get another network's result.
    this.#returning = new RunChains({ ...needs, journal: { step: () => Promise.resolve() } });
  }

  /** The result of each chain that joins. */
  async add(work: PlugWork, record: AttachmentRecord): Promise<readonly JsonText[]> {
    return await this.#run(this.#joining, work, record);
  }

  /** The same for chains that the pod had before. */
  async addAgain(work: PlugWork, record: AttachmentRecord): Promise<readonly JsonText[]> {
    return await this.#run(this.#returning, work, record);
  }

  /** The time of the plugins begins when the hand is free for them. */
  async #run(chains: RunChains, work: PlugWork, record: AttachmentRecord): Promise<readonly JsonText[]> {
    using _lane = await work.hand.places?.lanes.take();
    const { config } = this.#needs;
    // What Multus has attached came without a CNI_PATH.
    const cniPath = record.cniPath === "" ? pathFor(work.hand, "", config.binDir) : record.cniPath;
    return await chains.run(residentCaller(work, this.#needs), { ...record, cniPath }, work.reports);
  }
}
