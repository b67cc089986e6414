import type { Admission } from "../../admission/admission.ts";
import type { IfName, JsonText } from "../../base/brand.ts";
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

  constructor(needs: PlugChainsNeeds) {
    this.#needs = needs;
  }

  /** The result of each chain that joins. */
  async add(work: PlugWork, record: AttachmentRecord): Promise<readonly JsonText[]> {
    return await this.#run((token, done) => this.#needs.journal.plugStep(token, done), work, record);
  }

  /** The same for the only chain of the record, which the pod had before. Its steps are not those of the ones that join. */
  async addAgain(work: PlugWork, record: AttachmentRecord, ifname: IfName): Promise<JsonText | undefined> {
    const [result] = await this.#run((token, done) => this.#needs.journal.plugStep(token, done, ifname), work, record);
    return result;
  }

  /** The time of the plugins begins when the hand is free for them. */
  async #run(step: Journal["step"], work: PlugWork, record: AttachmentRecord): Promise<readonly JsonText[]> {
    using _lane = await work.hand.places?.lanes.take();
    const { config } = this.#needs;
    // What Multus has attached came without a CNI_PATH.
    const cniPath = record.cniPath === "" ? pathFor(work.hand, "", config.binDir) : record.cniPath;
    const chains = new RunChains({ ...this.#needs, journal: { step } });
    return await chains.run(residentCaller(work, this.#needs), { ...record, cniPath }, work.reports);
  }
}
